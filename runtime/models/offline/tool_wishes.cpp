// SPDX-License-Identifier: BSD-3-Clause

#include "tool_wishes.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "fitted_json.hpp"
#include "words.hpp"
#include <fmt/format.h>

namespace tertulia::offline {

namespace {

constexpr auto npos = std::string::npos;

constexpr std::array<std::string_view, 8> verbs{
  "use", "call", "run", "ask", "try", "start", "invoke", "using"};

/// Returns a name as words: `get weather` for `getWeather`, `get_weather` and
/// `get-weather`.
std::string in_words(std::string_view name) {
  std::string result;
  for (const auto x : name) {
    const auto c = static_cast<unsigned char>(x);
    if (std::isalnum(c) == 0) {
      result += ' ';
      continue;
    }
    if (std::isupper(c) != 0 && !result.empty() && result.back() != ' ')
      result += ' ';
    result += x;
  }
  return lowered(result);
}

/// Returns the names that users may give a tool, longest first.
std::vector<std::string> names_of(const ai::tool_definition& tool) {
  std::vector<std::string> result{in_words(tool.name), lowered(tool.name)};
  // Users say "the weather tool" for `getWeather`.
  if (const auto blank = result[0].find(' '); blank != npos)
    result.push_back(result[0].substr(blank + 1));
  return result;
}

struct mention {
  std::size_t from;
  std::size_t to;
  const ai::tool_definition* tool;
};

/// Adds the place where the text asks for the tool, and returns whether it
/// does.
bool find_mention(std::string_view text, const ai::tool_definition& tool,
                  std::vector<mention>& to) {
  for (const auto& name : names_of(tool)) {
    const auto position = find_word(text, name);
    if (position == npos)
      continue;
    auto end = position + name.size();
    const auto is_tool
      = text.substr(end).starts_with(" tool") && !is_letter(text, end + 5);
    const auto before = text.substr(0, position);
    const auto is_told
      = std::any_of(verbs.begin(), verbs.end(), [&](std::string_view x) {
          return find_word(before, x) != npos;
        });
    if (!is_tool && !is_told)
      continue;
    if (is_tool)
      end += 5;
    to.push_back(mention{position, end, &tool});
    return true;
  }
  return false;
}

/// Removes words from the end that belong to the next tool.
std::string_view without_tail(std::string_view text) {
  constexpr std::array<std::string_view, 5> tail{"and", "then", "the", "also",
                                                 "to"};
  for (;;) {
    const auto last = text.find_last_not_of(" ,;.\n");
    text = text.substr(0, last == npos ? 0 : last + 1);
    const auto blank = text.find_last_of(" \n");
    const auto word = lowered(text.substr(blank == npos ? 0 : blank + 1));
    const auto is_any = [&](const auto& of) {
      return std::find(of.begin(), of.end(), word) != of.end();
    };
    if (text.empty() || (!is_any(tail) && !is_any(verbs)))
      return text;
    text = text.substr(0, blank == npos ? 0 : blank);
  }
}

/// Returns a value in plain words: `18 degrees` or `sky clear, wind 3`.
std::string in_plain_words(const json& x) {
  if (x.is_null())
    return "nothing";
  if (x.is_string())
    return x.get<std::string>();
  if (!x.is_object() || x.empty())
    return to_json_text(x);
  std::string result;
  for (const auto& [name, value] : x.items())
    result += fmt::format("{}{} {}", result.empty() ? "" : ", ", in_words(name),
                          value.is_string() ? value.get<std::string>()
                                            : to_json_text(value));
  return result;
}

} // namespace

std::vector<ai::tool_request> tool_wishes(const ai::generate_request& request,
                                          std::string_view text) {
  std::vector<mention> found;
  if (request.tool_choice != ai::tool_choice::none) {
    auto lower = lowered(text);
    // `get_weather` becomes `get weather`, which has the same length.
    std::replace(lower.begin(), lower.end(), '_', ' ');
    for (const auto& tool : request.tools)
      find_mention(lower, tool, found);
  }
  std::sort(found.begin(), found.end(),
            [](const mention& a, const mention& b) { return a.from < b.from; });
  if (found.empty() && request.tool_choice == ai::tool_choice::required)
    found.push_back(mention{0, 0, &request.tools.front()});
  std::vector<ai::tool_request> result;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto end = i + 1 < found.size() ? found[i + 1].from : text.size();
    const auto from = std::min(found[i].to, end);
    auto words = text.substr(from, end - from);
    if (i + 1 < found.size())
      words = without_tail(words);
    const auto& tool = *found[i].tool;
    // Unique in the conversation, and reproducible.
    auto ref = "call-" + std::to_string(request.messages.size()) + '-'
               + std::to_string(i + 1);
    result.emplace_back(tool.name, fitted_json(tool.input_schema, words),
                        std::move(ref));
  }
  return result;
}

std::string wanted_tool(std::string_view text) {
  const auto lower = lowered(text);
  const auto end = find_word(lower, "tool");
  if (end == npos || end == 0)
    return {};
  const auto is_told
    = std::any_of(verbs.begin(), verbs.end(), [&](std::string_view x) {
        return find_word(lower, x) < end;
      });
  const auto last = lower.find_last_not_of(' ', end - 1);
  if (!is_told || last == npos)
    return {};
  const auto blank = lower.find_last_of(' ', last);
  const auto from = blank == npos ? 0 : blank + 1;
  const auto name = lower.substr(from, last + 1 - from);
  return name == "the" || name == "a" || name == "any" ? std::string{} : name;
}

std::string told_of(const ai::message& responses) {
  std::string result;
  for (const auto& x : responses.content)
    if (const auto* answer = x.as_response())
      result
        += fmt::format("{}The {} tool says: {}.", result.empty() ? "" : " ",
                       in_words(answer->name), in_plain_words(answer->output));
  return result.empty() ? "The tools said nothing." : result;
}

} // namespace tertulia::offline
