// SPDX-License-Identifier: BSD-3-Clause

#include "answer_value.hpp"

#include <tertulia/schema_check.hpp>

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace tertulia::ai {

namespace {

/// Removes the code fences that models often put around JSON.
std::string_view without_fences(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n";
  constexpr std::string_view fence = "```";
  const auto trim = [&] {
    const auto from = std::min(text.find_first_not_of(blanks), text.size());
    text.remove_prefix(from);
    text = text.substr(0, text.find_last_not_of(blanks) + 1);
  };
  trim();
  if (text.size() < 2 * fence.size() || !text.starts_with(fence)
      || !text.ends_with(fence))
    return text;
  text.remove_suffix(fence.size());
  text.remove_prefix(std::min(text.find('\n'), text.size()));
  trim();
  return text;
}

} // namespace

json read_answer(const message& answer, const json& schema) {
  for (const auto& x : answer.content)
    if (const auto* data = x.as_data()) {
      check_schema(data->data, schema);
      return data->data;
    }
  auto result = parse_json<json>(without_fences(answer.text()));
  check_schema(result, schema);
  return result;
}

std::vector<message> correction(message answer, const status_error& wrong) {
  std::vector<message> result;
  result.push_back(std::move(answer));
  result.push_back(
    user_text(fmt::format("The answer does not fit the schema: {}. Answer "
                          "again, with nothing but JSON that has the schema.",
                          wrong.message())));
  return result;
}

} // namespace tertulia::ai
