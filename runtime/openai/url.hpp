// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tertulia::openai {

/// The parts of a URL that a client needs.
struct url {
  bool secure = false;
  std::string user; // before the `@`, decoded; may have a password
  std::string host; // without brackets
  std::string port;
  std::string path; // without a final slash; may be empty

  /// Host and port as in the header `Host`: without the port of the scheme.
  [[nodiscard]] std::string authority() const;

  /// Host and port.
  [[nodiscard]] std::string endpoint() const;

  [[nodiscard]] std::uint16_t port_number() const;
};

/// Reads `http://…` or `https://…`.
/// @errors throws `invalid_argument`, without a word of what is in `text`,
///         which may be secret.
url parse_url(std::string_view text);

/// Reads the URL of a proxy, which many write without `http://`.
/// @errors as `parse_url`, also for `https://…`.
url parse_proxy(std::string_view text);

/// Says whether a list such as `localhost,.example.org:443` has the server: `*`
/// has all, and a domain its subdomains.
bool is_excepted(std::string_view no_proxy, const url& server);

} // namespace tertulia::openai
