// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/status_error.hpp>

#include <caf/error.hpp>
#include <caf/expected.hpp>
#include <caf/make_message.hpp> // CAF 0.17: CAF_ERROR_CODE_ENUM needs it

#include <string>
#include <utility>

CAF_ERROR_CODE_ENUM(tertulia::errc, "tertulia")

// Errors in the form for actor messages, and the translation from and to
// `status_error`.

namespace tertulia {

/// Returns an error of the category `tertulia`.
[[nodiscard]] caf::error fail(errc code, std::string message,
                              std::string details = {});

/// Returns the error in the form for actor messages; `internal` if its code is
/// `errc::ok`, which is not an error.
[[nodiscard]] caf::error to_error(const status_error& x);

/// Returns the error in the form for coroutines. An error of another category
/// keeps its text, or is rendered: CAF's time-outs become `deadline_exceeded`,
/// an unreachable or dead receiver `unavailable`, and an error without a
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
