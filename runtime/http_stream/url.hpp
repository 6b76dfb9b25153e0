// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <string>
#include <string_view>

namespace tertulia::http {

/// Parts of a URL that a client needs.
struct url {
  bool secure = false;
  std::string user; // decoded
  std::string password;
  std::string host; // with brackets around an IPv6 address
  std::string port;
  std::string path; // without a final slash; may be empty

  /// Returns host and port as in the header `Host`: without the port of the
  /// scheme.
  [[nodiscard]] std::string authority() const;

  /// Returns host and port.
  [[nodiscard]] std::string endpoint() const;

  /// Returns the URL without user and password.
  [[nodiscard]] std::string text() const;
};

/// Parses `http://…` or `https://…`.
/// @errors throws `invalid_argument`; its message contains nothing of `text`,
///         which may be secret.
url parse_url(std::string_view text);

/// Parses the URL of a proxy, which is often written without `http://`.
/// @errors as `parse_url`, also for `https://…`.
url parse_proxy(std::string_view text);

/// Returns the entries of a list such as `localhost,.example.org:443` that
/// apply to the port of the server, in the form that libcurl understands:
/// without ports and brackets.
std::string exceptions_for(std::string_view no_proxy, const url& server);

} // namespace tertulia::http
