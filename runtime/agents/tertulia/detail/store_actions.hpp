// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/agent.hpp>
#include <tertulia/detail/conversation_action.hpp>
#include <tertulia/detail/schema_builder.hpp>
#include <tertulia/store.hpp>

#include <memory>
#include <utility>
#include <vector>

// Actions on a store by key, for tools that do not know its types: each action
// answers one input with its output. Only their outputs depend on a type.

namespace tertulia::detail {

/// Outputs of the actions on a store, as types of the program.
struct store_outputs {
  schema_source* snapshot_schema;
  schema_source* snapshots_schema;
  payload (*snapshot)(const stored_snapshot&);
  payload (*snapshots)(const std::vector<stored_snapshot>&);
  /// Null for a conversation without `getSession`.
  schema_source* session_schema = nullptr;
  payload (*session)(const stored_session&) = nullptr;
};

/// Returns a plain state as its type; a default-constructed one if the content
/// is empty.
template <class State>
State state_as(const state& x) {
  auto value = x.custom();
  return value ? std::move(value).template take<State>() : State{};
}

template <class Snapshot>
struct snapshot_maker {
  static Snapshot one(const stored_snapshot& x) {
    return Snapshot{x.record, x.content};
  }
};

template <class State>
struct snapshot_maker<snapshot<State>> {
  static snapshot<State> one(const stored_snapshot& x) {
    return snapshot<State>{x.record, state_as<State>(x.content)};
  }
};

template <class Snapshot>
payload snapshot_payload(const stored_snapshot& x) {
  return payload::of(snapshot_maker<Snapshot>::one(x));
}

template <class Snapshot>
payload snapshots_payload(const std::vector<stored_snapshot>& xs) {
  std::vector<Snapshot> result;
  result.reserve(xs.size());
  for (const auto& x : xs)
    result.push_back(snapshot_maker<Snapshot>::one(x));
  return payload::of(std::move(result));
}

template <class State>
payload session_payload(const stored_session& x) {
  session_data<State> result;
  result.id = x.info.id;
  result.state = state_as<State>(x.content);
  result.turn_index = x.info.next_turn;
  if (x.head)
    result.last_snapshot = snapshot_maker<snapshot<State>>::one(x.head);
  return payload::of(std::move(result));
}

/// Outputs for a conversation of messages, a custom value and artifacts.
template <class Snapshot>
inline constexpr store_outputs outputs_of_conversation{
  add_schema<Snapshot>, add_schema<std::vector<Snapshot>>,
  snapshot_payload<Snapshot>, snapshots_payload<Snapshot>};

/// Outputs for an agent with a state of its own type.
template <class State>
inline constexpr store_outputs outputs_of_agent{
  add_schema<snapshot<State>>,       add_schema<std::vector<snapshot<State>>>,
  snapshot_payload<snapshot<State>>, snapshots_payload<snapshot<State>>,
  add_schema<session_data<State>>,   session_payload<State>};

/// Returns a conversation and, if it has a store, the actions on that:
/// `/snapshot-store/<name>/getSnapshot`, `…/listSnapshots`,
/// `…/restoreSnapshot` and, for an agent, `…/getSession`.
/// @design docs/genkit.md 000 §10.1.
[[nodiscard]] std::vector<std::shared_ptr<const action>>
with_store_actions(std::shared_ptr<const conversation_action> conversation,
                   const store_outputs& outputs);

} // namespace tertulia::detail
