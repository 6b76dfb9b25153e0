// SPDX-License-Identifier: BSD-3-Clause

#include "cursor.hpp"

#include <tertulia/detail/text.hpp>

#include <array>
#include <cstdio>
#include <optional>
#include <string_view>
#include <utility>

#include "tool_failure.hpp"
#include <fmt/format.h>

namespace tertulia::tool {

namespace {

void append_encoded(std::string& to, std::string_view text) {
  constexpr std::string_view plain
    = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789/-._~";
  for (const char c : text) {
    if (plain.find(c) != std::string_view::npos) {
      to += c;
      continue;
    }
    std::array<char, 4> code{};
    std::snprintf(code.data(), code.size(), "%%%02X",
                  static_cast<unsigned>(static_cast<unsigned char>(c)));
    to += code.data();
  }
}

} // namespace

std::string cursor_of(const session_ref& x) {
  std::string result;
  append_encoded(result, x.agent);
  result += ':';
  append_encoded(result, x.id.str());
  return result;
}

session_ref session_of_cursor(const std::string& text) {
  const std::string_view all = text;
  const auto colon = all.find(':');
  const auto is_cursor = colon != std::string_view::npos;
  auto agent
    = is_cursor ? detail::percent_decoded(all.substr(0, colon)) : std::nullopt;
  auto id
    = is_cursor ? detail::percent_decoded(all.substr(colon + 1)) : std::nullopt;
  if (!agent || !id)
    reject_usage(fmt::format("--after: \"{}\" is not a cursor", text),
                 "Use one that \"tertulia sessions list\" has printed.");
  return {std::move(*agent), session_id{std::move(*id)}};
}

} // namespace tertulia::tool
