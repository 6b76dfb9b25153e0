// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/detail/text.hpp>
#include <tertulia/store_rules.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// The summary of a session, which lists show, and the turns that it knows.

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

void note_turn(session_info& x, std::optional<std::uint64_t> inputs,
               std::optional<turn_id> turn) {
  auto& past = x.past_turns;
  if (x.turn && x.inputs)
    past.emplace_back(std::move(*x.turn), *x.inputs);
  std::erase_if(past, [&](const past_turn& y) {
    return !inputs || y.inputs > *inputs || y.name == turn;
  });
  if (!turn && !past.empty() && past.back().inputs == inputs) {
    turn = std::move(past.back().name);
    past.pop_back();
  }
  if (past.size() > max_past_turns)
    past.erase(past.begin());
  x.inputs = inputs;
  x.turn = std::move(turn);
}

} // namespace tertulia::rules
