// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/detail/run_policy.hpp>
#include <tertulia/detail/state_schema.hpp>
#include <tertulia/open.hpp>
#include <tertulia/protocol.hpp>
#include <tertulia/session_protocol.hpp>
#include <tertulia/state.hpp>

#include <caf/timespan.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace tertulia::detail {

/// Scheme of the snapshot ids.
enum class id_scheme {
  content, ///< The hash of the state.
  unique,  ///< A UUID, which is also stored in the last message.
};

/// Effect of a restore on the snapshots after the restored one.
enum class restore_rule {
  move_head, ///< They are orphaned.
  branch,    ///< None: a new branch begins beside theirs.
};

/// Effect of a failed save.
enum class save_failure {
  fails_turn,  ///< The end of the turn throws.
  is_reported, ///< It is logged and traced, and the conversation goes on.
};

/// A moment at which a snapshot may be made, independent of the types.
///
/// @lifetime references are valid during the call only.
struct snapshot_moment {
  snapshot_event event;
  const state& present;
  const state* previous; ///< State of the last snapshot; null if none.
  std::uint64_t index;   ///< Index of the snapshot, if it is made.
  std::uint64_t turn_index;
};

/// Settings in which the kinds of conversations differ.
struct session_policy {
  id_scheme ids = id_scheme::content;
  restore_rule restore = restore_rule::move_head;
  save_failure on_failure = save_failure::fails_turn;
  /// Type of the custom value, or of the only value of a plain state, and the
  /// migration of older values from the store.
  state_schema schema;
  /// Null without a store: sessions then live as long as their connection.
  snapshot_store store;
  /// Throws for a state with which a client may not start a session of the
  /// store. Empty for conversations whose clients cannot give a state with a
  /// store, and for agents, which accept any state.
  std::function<void(const state&)> check_initial;
  /// Throws for an input that is not taken, in the action's own type; may be
  /// empty.
  std::function<void(const payload&)> check_input;
  /// Returns whether to make a snapshot; empty for never.
  std::function<bool(const snapshot_moment&)> wanted;
  /// If true and there is a store, every edit of a session is saved before it
  /// is answered.
  bool saves_changes = false;
  /// Makes the chunk that notifies the client of a snapshot; empty for none.
  std::function<payload(const snapshot_id&)> notice;
  /// Makes the chunk that carries a change of the custom value; empty for none.
  std::function<payload(const json& patch)> custom_chunk;
  /// Span attribute that names the agent or flow of a snapshot.
  std::string span_key = "genkit:metadata:agent";
  /// Policy for runs whose clients choose none.
  run_policy runs;
  /// Longest wait for the store.
  caf::timespan store_within = std::chrono::seconds{30};

  /// Returns whether snapshots can be made at all.
  [[nodiscard]] bool makes_snapshots() const noexcept {
    return store && wanted;
  }

  /// Returns whether the end of a turn involves the store.
  [[nodiscard]] bool stores_turns() const noexcept {
    return store && (wanted || saves_changes);
  }
};

/// Start of a conversation as its client requests it.
struct session_start {
  session_id session;
  snapshot_id snapshot;
  if_live live = if_live::refuse;
  std::optional<state> initial;
  /// Whether the client must not hear what other sessions have.
  bool hides_others = false;
  /// The init for the body, in the action's own type; may be empty.
  payload init;
  /// Connection that is told of changes of the custom value; may be null.
  custom_listener listener;
};

} // namespace tertulia::detail
