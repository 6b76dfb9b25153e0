// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/errc.hpp>

#include <stdexcept>
#include <string>
#include <utility>

namespace tertulia {

/// Error as coroutines and blocking calls throw it: a code, a message for
/// people and details for programs.
///
/// Actor messages carry the same three as a `caf::error` of the category
/// `tertulia`. Only `to_error` and `to_status` translate between the two.
///
/// @threads a value.
/// @design  docs/failures.md#error-codes.
class status_error : public std::runtime_error {
public:
  /// @param code    the code of the error; not `errc::ok`.
  /// @param message for people, one sentence without a full stop at the end.
  /// @param details for programs: a JSON object as text, or empty.
  status_error(errc code, const std::string& message, std::string details = {})
    : std::runtime_error(message), code_(code), details_(std::move(details)) {}

  /// Returns the error for an exception of another type: `internal`.
  /// @param text the `what()` of the exception.
  [[nodiscard]] static status_error unexpected(const std::string& text) {
    status_error result{errc::internal, text};
    result.is_unexpected_ = true;
    return result;
  }

  [[nodiscard]] errc code() const noexcept {
    return code_;
  }

  /// Returns the message for people; the same text as `what()`.
  [[nodiscard]] std::string message() const {
    return what();
  }

  /// Returns a JSON object as text that names the session, snapshot, field …;
  /// may be empty.
  [[nodiscard]] const std::string& details() const noexcept {
    return details_;
  }

  /// Returns whether this stands for an exception of another type. Its text was
  /// not written for clients, so clients on other nodes do not receive it.
  [[nodiscard]] bool is_unexpected() const noexcept {
    return is_unexpected_;
  }

private:
  errc code_;
  bool is_unexpected_ = false;
  std::string details_;
};

} // namespace tertulia
