// SPDX-License-Identifier: BSD-3-Clause

#include "cursor.hpp"

#include <array>
#include <charconv>
#include <cstdio>
#include <string_view>

#include "tool_failure.hpp"

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

bool append_decoded(std::string& to, std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      to += text[i];
      continue;
    }
    if (text.size() - i < 3)
      return false;
    unsigned code = 0;
    const auto* end = text.data() + i + 3;
    const auto [at, error]
      = std::from_chars(text.data() + i + 1, end, code, 16);
    if (error != std::errc{} || at != end)
      return false;
    to += static_cast<char>(code);
    i += 2;
  }
  return true;
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
  std::string agent;
  std::string id;
  if (colon == std::string_view::npos
      || !append_decoded(agent, all.substr(0, colon))
      || !append_decoded(id, all.substr(colon + 1)))
    reject_usage("--after: \"" + text + "\" is not a cursor",
                 "Use one that \"tertulia sessions list\" has printed.");
  return {std::move(agent), session_id{std::move(id)}};
}

} // namespace tertulia::tool
