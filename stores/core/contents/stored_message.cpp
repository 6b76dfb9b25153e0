// SPDX-License-Identifier: BSD-3-Clause

#include "stored_message.hpp"

#include <tertulia/json.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tertulia {

namespace {

bool skip(std::string_view& text, std::string_view what) {
  if (!text.starts_with(what))
    return false;
  text.remove_prefix(what.size());
  return true;
}

/// Reads up to the closing quote. Returns nothing if there are escapes of more
/// than one letter.
std::optional<std::string> read_string(std::string_view& text) {
  std::string result;
  for (;;) {
    // A loop: `find_first_of` calls a function for each letter.
    std::size_t end = 0;
    while (end < text.size() && text[end] != '"' && text[end] != '\\')
      ++end;
    if (end + 1 >= text.size())
      return std::nullopt;
    result.append(text.substr(0, end));
    const auto escaped = text[end + 1];
    const auto quoted = text[end] == '"';
    text.remove_prefix(quoted ? end + 1 : end + 2);
    if (quoted)
      return result;
    switch (escaped) {
      case '"':
      case '\\': result += escaped; break;
      case 'n': result += '\n'; break;
      case 'r': result += '\r'; break;
      case 't': result += '\t'; break;
      case 'b': result += '\b'; break;
      case 'f': result += '\f'; break;
      default: return std::nullopt;
    }
  }
}

std::optional<ai::role> read_role(std::string_view text) {
  for (const auto& [name, role] : {std::pair{R"(user"})", ai::role::user},
                                   std::pair{R"(model"})", ai::role::model},
                                   std::pair{R"(tool"})", ai::role::tool},
                                   std::pair{R"(system"})", ai::role::system}})
    if (text == name)
      return role;
  return std::nullopt;
}

/// Parses a message that consists of a single text. Returns nothing for any
/// other message.
std::optional<ai::message> read_text(std::string_view text) {
  if (!skip(text, R"({"content":[{"text":")"))
    return std::nullopt;
  auto content = read_string(text);
  if (!content || !skip(text, R"(}],"role":")"))
    return std::nullopt;
  const auto role = read_role(text);
  if (!role)
    return std::nullopt;
  std::vector<ai::part> parts;
  parts.push_back(ai::part::text(std::move(*content)));
  return ai::message{*role, std::move(parts)};
}

} // namespace

ai::message read_stored_message(std::string_view text) {
  if (auto result = read_text(text))
    return std::move(*result);
  return parse_json<ai::message>(text);
}

} // namespace tertulia
