// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/json.hpp>
#include <tertulia/store.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace tertulia::detail {

/// Session in the model of a store: its records and its working state.
///
/// @threads a value.
struct session_model {
  /// Id of a state, and name and version of its type.
  using state_key = std::tuple<state_id, std::string, std::uint32_t>;

  static state_key key_of(const snapshot_record& x) {
    return {x.state, std::string{x.type.name()}, x.type.version()};
  }

  [[nodiscard]] bool has(std::uint64_t sequence) const {
    return records.contains(sequence);
  }

  [[nodiscard]] const snapshot_record& at(std::uint64_t sequence) const {
    return records.at(sequence);
  }

  [[nodiscard]] std::set<std::uint64_t> active() const {
    std::set<std::uint64_t> result;
    for (auto i = info.head; i != 0; i = at(i).parent)
      result.insert(i);
    return result;
  }

  [[nodiscard]] snapshot_record read(std::uint64_t sequence) const {
    auto result = at(sequence);
    result.orphaned = !active().contains(sequence);
    return result;
  }

  /// Notes how many inputs the new working state contains.
  void note_turn(std::optional<std::uint64_t> inputs,
                 std::optional<turn_id> turn = std::nullopt) {
    info.inputs = inputs;
    std::erase_if(turns, [&](const auto& x) {
      return !x.second || !inputs || x.second > inputs || x.first == turn;
    });
    if (turn)
      turns.emplace_back(*turn, inputs);
  }

  [[nodiscard]] session_info summary() const {
    auto result = info;
    for (const auto& [name, inputs] : turns)
      if (inputs)
        result.past_turns.emplace_back(name, *inputs);
    if (!turns.empty() && turns.back().second == info.inputs) {
      result.turn = turns.back().first;
      if (info.inputs)
        result.past_turns.pop_back();
    }
    result.records = records.size();
    const auto& log = content.messages();
    result.messages = log.size();
    result.bytes = log.empty() ? 0 : to_json_text(log).size();
    for (const auto& message : log)
      if (message.role == ai::role::user)
        result.preview = message.text(); // all texts are short
    return result;
  }

  session_info info;
  state content;
  /// Names of turns, with the inputs as of each; fewer than a store keeps.
  std::vector<std::pair<turn_id, std::optional<std::uint64_t>>> turns;
  std::uint64_t last_sequence = 0;
  std::map<std::uint64_t, snapshot_record> records;
};

} // namespace tertulia::detail
