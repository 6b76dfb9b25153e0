// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/ai/conversation.hpp>
#include <tertulia/detail/check_json.hpp>
#include <tertulia/json_patch.hpp>

#include <optional>
#include <utility>

namespace tertulia::ai {

/// Custom value of a conversation as its client sees it change: it applies the
/// changes that the stream contains if the client has requested them
/// (`with_custom_deltas`).
///
/// ```
/// ai::custom_view<trip> seen;
/// for (const auto& item : talk.responses())
///   if (seen.apply(item))
///     show(*seen.value());
/// ```
///
/// @threads a value.
/// @design  docs/sessions.md#changes-of-the-custom-value.
template <class Custom>
class custom_view {
public:
  /// Applies the change in a chunk.
  /// @returns whether there was one.
  /// @errors  throws `data_loss` for a change that does not fit the value, for
  ///          example because an earlier chunk was not applied. The value is
  ///          then unchanged.
  template <class Status>
  bool apply(const stream_chunk<Status>& x) {
    static_assert(detail::check_json<Custom>());
    if (x.custom_patch.is_null())
      return false;
    try {
      auto next = document_;
      apply_json_patch(next, x.custom_patch);
      value_ = from_json<Custom>(next);
      document_ = std::move(next);
    } catch (const status_error& failure) {
      throw status_error{errc::data_loss, failure.message(), failure.details()};
    }
    return true;
  }

  /// Returns the value; empty before the first change.
  [[nodiscard]] const std::optional<Custom>& value() const noexcept {
    return value_;
  }

private:
  json document_;
  std::optional<Custom> value_;
};

} // namespace tertulia::ai
