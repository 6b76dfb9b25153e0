// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace tertulia::web {

/// Target of a request: a path and a query, both decoded.
struct target {
  std::string path;
  std::map<std::string, std::string> query;

  /// Returns a member of the query; empty if it has none.
  [[nodiscard]] std::string get(const std::string& name) const;

  /// Returns a number of the query; empty without one.
  /// @errors throws `invalid_argument` for a text that is not a number.
  [[nodiscard]] std::optional<std::uint64_t>
  number(const std::string& name) const;
};

/// Removes the scheme and the host of a target that has them, as clients send
/// it to a proxy.
/// @returns the host; empty without one.
[[nodiscard]] std::string_view take_host(std::string_view& text);

/// Returns whether a text is a host, with or without a port.
[[nodiscard]] bool is_host(std::string_view text);

/// Returns a text for a log: ASCII without blanks and quotes.
[[nodiscard]] std::string log_text(std::string_view text);

/// Reads a target.
/// @returns empty if it is not a path, or cannot be decoded to UTF-8.
[[nodiscard]] std::optional<target> read_target(std::string_view text);

} // namespace tertulia::web
