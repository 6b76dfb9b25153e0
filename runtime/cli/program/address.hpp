// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/config.hpp>

#include <cstdint>
#include <string>

namespace tertulia::tool {

/// Address of a running program that has published its runtime, and the
/// certificate by which to connect.
///
/// @threads a value.
struct program_address {
  std::string host;
  std::uint16_t port = 0;
  /// Key of a conversation there; may be empty.
  std::string key;
  /// Folder of the certificate and its name; empty for plain text.
  std::string folder;
  std::string name;

  /// Returns `HOST:PORT`.
  [[nodiscard]] std::string place() const;
};

/// Reads an address.
/// @param text        `HOST:PORT` or `HOST:PORT/KEY`; an IPv6 address is in
///                    brackets.
/// @param certificate `DIR/NAME`; empty without one.
/// @param is_plain    whether plain text was chosen.
/// @errors throws a usage failure.
[[nodiscard]] program_address read_address(const std::string& text,
                                           const std::string& certificate,
                                           bool is_plain);

/// Adds the network module to a configuration.
/// @errors throws a usage failure for a certificate that is not there.
config& with_network(config& x, const program_address& to);

} // namespace tertulia::tool
