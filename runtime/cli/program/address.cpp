// SPDX-License-Identifier: BSD-3-Clause

#include "address.hpp"

#include <tertulia/tls.hpp>

#include <charconv>
#include <filesystem>
#include <limits>

#include "output/shown_text.hpp"
#include "tool_failure.hpp"
#include <fmt/format.h>

namespace tertulia::tool {

namespace {

[[noreturn]] void reject_address(const std::string& text) {
  reject_usage(fmt::format("\"{}\" is not an address", shown(text)),
               "An address is HOST:PORT, such as 127.0.0.1:4711, or "
               "HOST:PORT/KEY with the key of an agent there.");
}

} // namespace

std::string program_address::place() const {
  const auto is_ipv6 = host.find(':') != std::string::npos;
  return (is_ipv6 ? '[' + host + ']' : host) + ':' + std::to_string(port);
}

program_address read_address(const std::string& text,
                             const std::string& certificate, bool is_plain) {
  program_address result;
  const auto slash = text.find('/');
  auto place = text.substr(0, slash);
  if (slash != std::string::npos)
    result.key = text.substr(slash);
  const auto colon = place.rfind(':');
  if (colon == std::string::npos || colon == 0)
    reject_address(text);
  const auto number = place.substr(colon + 1);
  const auto* const end = number.data() + number.size();
  const auto [rest, error] = std::from_chars(number.data(), end, result.port);
  if (error != std::errc{} || rest != end || result.port == 0)
    reject_address(text);
  result.host = place.substr(0, colon);
  if (result.host.starts_with('[') && result.host.ends_with(']'))
    result.host = result.host.substr(1, result.host.size() - 2);
  else if (result.host.find(':') != std::string::npos)
    reject_address(text);
  if (result.host.empty())
    reject_address(text);
  if (certificate.empty()) {
    if (!is_plain)
      reject_usage(
        "--connect needs a certificate",
        "Add --certificate DIR/NAME, made by \"tertulia pki issue DIR NAME\", "
        "or --plain for a program on a trusted host that uses plain text.");
    return result;
  }
  if (is_plain)
    reject_usage("--certificate and --plain exclude each other");
  const std::filesystem::path path{certificate};
  result.folder = path.has_parent_path() ? path.parent_path().string() : ".";
  result.name = path.filename().string();
  if (result.name.empty())
    reject_usage("--certificate needs a folder and a name, such as ca/client");
  return result;
}

config& with_network(config& x, const program_address& to) {
  if (to.folder.empty())
    add_network_to(x, transport::plain_for_trusted_hosts);
  else
    add_network_to(x, tls_files::of(to.folder, to.name));
  return x;
}

} // namespace tertulia::tool
