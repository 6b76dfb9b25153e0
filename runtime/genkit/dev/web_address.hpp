// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tertulia::web {

/// Address of a server of Genkit's tools on this machine: they speak plain HTTP
/// and plain WebSockets.
struct web_address {
  std::string host;
  std::string port;
  std::string path;

  /// Reads `http://host:port/path`, or the same with `ws`.
  /// @returns empty for anything else.
  [[nodiscard]] static std::optional<web_address> of(std::string_view url);
};

} // namespace tertulia::web
