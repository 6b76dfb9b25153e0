// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/errc.hpp>

#include <caf/expected.hpp>

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

/// Returns an error of the category `tertulia`.
[[nodiscard]] caf::error fail(errc code, std::string message,
                              std::string details = {});

/// Returns the error in the form for actor messages; `internal` if its code is
/// `errc::ok`, which is not an error.
[[nodiscard]] caf::error to_error(const status_error& x);

/// Returns the error in the form for coroutines. An error of another category
/// keeps its rendered text: CAF's time-outs become `deadline_exceeded`, an
/// unreachable or dead receiver `unavailable`, and an error without a
/// counterpart `unknown`.
/// @pre `x` holds an error.
[[nodiscard]] status_error to_status(const caf::error& x);

/// Returns the code of `x` after the translation of `to_status`; `errc::ok` for
/// a default-constructed error.
[[nodiscard]] errc code_of(const caf::error& x);

/// Translates the exception that is being handled. A `status_error` keeps its
/// code. Any other exception becomes `internal` with its `what()` and is marked
/// as unexpected; the mark remains when it is thrown and translated again.
/// @pre called inside a `catch` block.
[[nodiscard]] caf::error current_exception_to_error();

/// Throws `to_status(x)`.
[[noreturn]] void raise(const caf::error& x);

/// Returns the value, or throws the error as `status_error`.
template <class T>
T value_or_raise(caf::expected<T>&& x) {
  if (!x)
    raise(x.error());
  return std::move(*x);
}

} // namespace tertulia
