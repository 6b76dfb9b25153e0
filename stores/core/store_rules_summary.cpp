// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/detail/text.hpp>
#include <tertulia/store_rules.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

// The summary of a session, which lists show.

namespace tertulia::rules {

namespace {

/// Returns the beginning of the first text in a message of the user; empty for
/// any other message.
std::string preview_of(const ai::message& x) {
  if (x.role != ai::role::user)
    return {};
  for (const auto& part : x.content)
    if (const auto said = part.as_text(); said && !said->text.empty())
      return std::string{detail::first_characters(said->text, max_preview)};
  return {};
}

} // namespace

void describe(session_info& x, const state& content) {
  const auto& log = content.messages();
  x.preview.clear();
  x.messages = log.size();
  x.bytes = 0;
  if (log.empty())
    return;
  constexpr std::string_view before_array = R"({"messages":)";
  x.bytes = log.digest().size() - before_array.size() + 1; // closing bracket
  // The last four messages are searched first: nearly always one of them is
  // from the user.
  std::size_t looked_at = 0;
  for (const std::size_t depth : {std::size_t{4}, preview_depth}) {
    const auto size = log.size();
    const auto first = size - std::min(size, depth);
    auto left = size - first - looked_at; // without those searched before
    for (const auto& message : log.from(first)) {
      if (left-- == 0)
        break;
      if (auto text = preview_of(message); !text.empty())
        x.preview = std::move(text);
    }
    if (!x.preview.empty() || first == 0)
      return;
    looked_at = size - first;
  }
}

} // namespace tertulia::rules
