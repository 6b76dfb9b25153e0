// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/json.hpp>
#include <tertulia/status_error.hpp>

#include <string>

namespace tertulia::web {

/// Returns a document as text on one line of valid UTF-8.
[[nodiscard]] std::string line_of(const json& x);

/// Returns the name of a code as in gRPC: `NOT_FOUND`.
[[nodiscard]] std::string status_name(errc code);

/// Returns the status of HTTP for a code.
[[nodiscard]] unsigned http_status(errc code) noexcept;

/// Returns an error as a document: `status`, `message` and `details`. The text
/// of an unexpected exception, which was not written for clients, is hidden.
[[nodiscard]] json error_document(const status_error& x);

/// Returns that document as text.
[[nodiscard]] std::string error_text(const status_error& x);

} // namespace tertulia::web
