// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tertulia::openai {

/// Parts of a URL that a client needs.
struct url {
  bool secure = false;
  std::string user; // before the `@`, decoded; may have a password
  std::string host; // without brackets
  std::string port;
  std::string path; // without a final slash; may be empty

  /// Returns host and port as in the header `Host`: without the port of the
  /// scheme.
  [[nodiscard]] std::string authority() const;

  /// Returns host and port.
  [[nodiscard]] std::string endpoint() const;

  [[nodiscard]] std::uint16_t port_number() const;
};

/// Parses `http://…` or `https://…`.
/// @errors throws `invalid_argument`; its message contains nothing of `text`,
///         which may be secret.
url parse_url(std::string_view text);

/// Parses the URL of a proxy, which is often written without `http://`.
/// @errors as `parse_url`, also for `https://…`.
url parse_proxy(std::string_view text);

/// Returns whether a list such as `localhost,.example.org:443` includes the
/// server: `*` includes every server, and a domain its subdomains.
bool is_excepted(std::string_view no_proxy, const url& server);

} // namespace tertulia::openai
