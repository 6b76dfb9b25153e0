// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/detail/action.hpp>
#include <tertulia/detail/state_schema.hpp>
#include <tertulia/open.hpp>
#include <tertulia/protocol.hpp>
#include <tertulia/session_protocol.hpp>
#include <tertulia/state.hpp>

#include <caf/timespan.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace tertulia::detail {

/// How snapshots are named.
enum class id_scheme {
  content, ///< By the hash of the state.
  unique,  ///< By a UUID, which is also noted in the last message.
};

/// What becomes of the snapshots behind the one that is restored.
enum class restore_rule {
  move_head, ///< They are orphaned.
  branch,    ///< Nothing: a new branch begins, beside theirs.
};

/// What a failed save does.
enum class save_failure {
  fails_turn,  ///< The end of the turn throws.
  is_reported, ///< It is logged and traced, and the conversation goes on.
};

/// A moment at which a snapshot may be made, whatever the types.
///
/// @lifetime references hold during the call only.
struct snapshot_moment {
  snapshot_event event;
  const state& present;
  const state* previous; ///< That of the last snapshot; null for none.
  std::uint64_t index;   ///< That of the snapshot, if it is made.
  std::uint64_t turn_index;
};

/// What makes one kind of conversation differ from another.
struct session_policy {
  id_scheme ids = id_scheme::content;
  restore_rule restore = restore_rule::move_head;
  save_failure on_failure = save_failure::fails_turn;
  /// Which type the custom value has, or a plain state's only one, and how an
  /// older one that comes from the store becomes such.
  state_schema schema;
  /// Null without a store: sessions then live as long as their connection.
  snapshot_store store;
  /// Throws for a state that no client may begin a session of the store with.
  /// Empty for conversations whose clients may give none there, and for agents,
  /// for which all will do.
  std::function<void(const state&)> check_initial;
  /// Says whether to make a snapshot; empty for never.
  std::function<bool(const snapshot_moment&)> wanted;
  /// Whether every change of the custom value is saved at once.
  bool saves_changes = false;
  /// Makes the chunk that tells the client of a snapshot; empty for none.
  std::function<payload(const snapshot_id&)> notice;
  /// Under which name a span says whose snapshot was made.
  std::string span_key = "genkit:metadata:agent";
  /// Longest wait for the store.
  caf::timespan store_within = std::chrono::seconds{30};

  /// Whether a snapshot can come of anything.
  [[nodiscard]] bool makes_snapshots() const noexcept {
    return store && wanted;
  }

  /// Whether the end of a turn is the store's business.
  [[nodiscard]] bool stores_turns() const noexcept {
    return store && (wanted || saves_changes);
  }
};

/// How a client wants a conversation to begin.
struct session_opening {
  session_id session;
  snapshot_id snapshot;
  if_live live = if_live::refuse;
  std::optional<state> initial;
  /// What the body sees of it: the init of its own type, or nothing.
  payload init;
};

/// An action whose connections have a session and a responder.
///
/// @threads immutable, as every action.
class conversation_action : public action {
public:
  /// @param state_type for those who look for a session of it.
  conversation_action(descriptor info, session_policy policy,
                      std::string state_type)
    : action(std::move(info)), policy(std::move(policy)),
      kind(std::make_shared<const session_kind>(
        std::move(state_type), this->policy.span_key, this->info.name)) {}

  [[nodiscard]] const conversation_action* conversation() const noexcept final {
    return this;
  }

  /// Takes apart what the client said.
  /// @param init what `check_init` returned; empty if the client gave none.
  /// @errors throws `invalid_argument` for a combination that makes no sense.
  [[nodiscard]] virtual session_opening
  opening(payload init, const open_options& options) const = 0;

  /// Returns the state that a session begins with when nobody says otherwise.
  [[nodiscard]] virtual state first_state() const = 0;

  /// Returns a custom value, or a plain state's only one, as the own type.
  /// @errors throws `invalid_argument` that names the JSON path.
  [[nodiscard]] virtual payload check_custom(payload value) const = 0;

  /// Returns a state in the type in which clients have it.
  /// @errors throws `invalid_argument` if its value is of another shape.
  [[nodiscard]] virtual payload client_state(const state& x) const = 0;

  const session_policy policy;
  const std::shared_ptr<const session_kind> kind;
};

} // namespace tertulia::detail
