// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/detail/outbox.hpp>
#include <tertulia/json.hpp>
#include <tertulia/payload.hpp>

#include <cstdint>
#include <optional>

namespace tertulia::detail {

class connection_state;

/// Sends the changes of the custom value to a client that has requested them.
///
/// A change waits for credit like a chunk. Changes that come meanwhile become
/// one, so at most one waits. It is sent before the end of its turn, which
/// waits for credit behind it.
///
/// @threads only on the actor of its connection.
/// @design  docs/sessions.md#changes-of-the-custom-value.
class custom_deltas final : private outbox::credit_waiter {
public:
  explicit custom_deltas(connection_state& owner) noexcept : owner_(owner) {}

  /// Sends the new value, or keeps it until there is credit.
  void change(payload value);

private:
  void on_credit() override;

  /// Returns the patch from the value that was sent last.
  json take_patch();

  connection_state& owner_;
  payload latest_;
  bool waits_ = false;
  json sent_;
  /// Turn in which a value was sent last.
  std::optional<std::uint64_t> turn_;
};

} // namespace tertulia::detail
