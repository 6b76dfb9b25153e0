// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/errc.hpp>
#include <tertulia/snapshot.hpp>
#include <tertulia/state.hpp>

#include <caf/meta/type_name.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

// What is said to a session.

namespace tertulia {

/// Session to whoever asked: what it is at this moment.
struct session_view {
  session_view() = default;
  session_view(session_id id, state content, std::uint64_t version)
    : id(std::move(id)), content(std::move(content)), version(version) {}

  session_id id;
  state content;
  /// Grows with every change.
  std::uint64_t version = 0;
  /// Index of the turn that is under way, or comes next.
  std::uint64_t turn = 0;
  /// The snapshot that it stands on; empty for none.
  snapshot_id last_snapshot;

  friend bool operator==(const session_view&, const session_view&) = default;
};

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, session_view& x) {
  return f(caf::meta::type_name("tertulia::session_view"), x.id, x.content,
           x.version, x.turn, x.last_snapshot);
}

/// What a change is about. Goes over the wire; append only.
enum class session_verb : std::uint8_t {
  add_messages = 0,  ///< `std::vector<ai::message>`
  set_messages = 1,  ///< `ai::message_log`
  set_custom = 2,    ///< the custom value, or all of a plain state
  add_artifact = 3,  ///< `ai::artifact`; replaces one of the same name
  set_artifacts = 4, ///< `std::vector<ai::artifact>`
};

BOOST_DESCRIBE_ENUM(session_verb, add_messages, set_messages, set_custom,
                    add_artifact, set_artifacts)

/// Anybody to session: change the state.
///
/// The session answers with its new version. If it keeps its state in a store
/// beside the snapshots, it does so before it answers.
struct session_edit {
  session_edit() = default;
  session_edit(session_verb what, payload value, std::uint64_t only_if = 0)
    : what(what), value(std::move(value)), only_if(only_if) {}

  session_verb what = session_verb::set_custom;
  payload value;
  /// Change only if the session still has this version, else `aborted`; 0 for
  /// any. How a change that depends on what was there is atomic.
  std::uint64_t only_if = 0;

  friend bool operator==(const session_edit&, const session_edit&) = default;
};

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, session_edit& x) {
  return f(caf::meta::type_name("tertulia::session_edit"), x.what, x.value,
           x.only_if);
}

/// Responder to session, and anybody to responder: this has happened, make a
/// snapshot if one is due.
struct snapshot_trigger {
  snapshot_trigger() = default;
  explicit snapshot_trigger(snapshot_event event) : event(event) {}

  snapshot_event event = snapshot_event::turn_end;

  friend bool operator==(const snapshot_trigger&, const snapshot_trigger&)
    = default;
};

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, snapshot_trigger& x) {
  return f(caf::meta::type_name("tertulia::snapshot_trigger"), x.event);
}

/// What became of a trigger.
struct snapshot_outcome {
  snapshot_outcome() = default;
  snapshot_outcome(snapshot_id id, bool created)
    : id(std::move(id)), created(created) {}

  /// The snapshot that has the state: a new one, or the last one if nothing
  /// changed since; empty if none was wanted.
  snapshot_id id;
  bool created = false;
  /// Why none was stored, where a conversation goes on nevertheless.
  errc failure = errc::ok;

  friend bool operator==(const snapshot_outcome&, const snapshot_outcome&)
    = default;
};

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, snapshot_outcome& x) {
  return f(caf::meta::type_name("tertulia::snapshot_outcome"), x.id, x.failure,
           x.created);
}

/// Session to connection: how the invocation ended for it.
struct session_summary {
  session_summary() = default;

  session_view last;
  /// The snapshots of this invocation, in order.
  std::vector<snapshot_id> snapshots;

  friend bool operator==(const session_summary&, const session_summary&)
    = default;
};

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, session_summary& x) {
  return f(caf::meta::type_name("tertulia::session_summary"), x.last,
           x.snapshots);
}

} // namespace tertulia
