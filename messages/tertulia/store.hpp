// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/snapshot.hpp>
#include <tertulia/state.hpp>

#include <caf/meta/type_name.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

// What is said to a snapshot store, and what it answers. Sessions are told
// apart by the agent they belong to and their own id: a store may serve many
// agents. Every change is one verb that the store decides.

namespace tertulia {

/// The longest page that a store gives.
inline constexpr std::uint32_t max_page = 1'000;

/// The longest label, in bytes.
inline constexpr std::size_t max_label_size = 256;

/// The longest note on a snapshot, in bytes.
inline constexpr std::size_t max_note_size = 4'096;

/// The longest title of a session, in bytes.
inline constexpr std::size_t max_title_size = 256;

/// How many labels a snapshot may have.
inline constexpr std::size_t max_labels = 64;

/// Which session is meant.
struct session_ref {
  session_ref() = default;
  session_ref(std::string agent, session_id id)
    : agent(std::move(agent)), id(std::move(id)) {}

  /// Key of the agent or flow, e.g. `/agent/chat`.
  std::string agent;
  session_id id;

  friend auto operator<=>(const session_ref&, const session_ref&) = default;
};

BOOST_DESCRIBE_STRUCT(session_ref, (), (agent, id))

/// Which snapshot is meant. An id that occurs in one session needs no more; one
/// that occurs in several is ambiguous without the session. If a session has
/// come to a state more than once its last active record is meant, or its last
/// one if none is active.
struct snapshot_ref {
  snapshot_ref() = default;
  snapshot_ref(std::string agent, session_id session, snapshot_id id)
    : agent(std::move(agent)), session(std::move(session)), id(std::move(id)) {}

  /// Means one certain record.
  snapshot_ref(session_ref of, std::uint64_t sequence)
    : agent(std::move(of.agent)), session(std::move(of.id)),
      sequence(sequence) {}

  std::string agent;
  /// Empty if the id says it all.
  session_id session;
  snapshot_id id;
  /// One certain record of the session, which must be named then; 0 for
  /// whichever has the id. With it the id may be empty; if it is not, both must
  /// fit.
  std::uint64_t sequence = 0;

  friend bool operator==(const snapshot_ref&, const snapshot_ref&) = default;
};

BOOST_DESCRIBE_STRUCT(snapshot_ref, (), (agent, session, id, sequence))

/// How much of a snapshot is wanted.
enum class detail_level : std::uint8_t {
  record, ///< Its record; stores do not touch the state for it.
  state,  ///< Its state, too, and verified.
};

BOOST_DESCRIBE_ENUM(detail_level, record, state)

/// Where a record may be added to a session.
enum class append_rule : std::uint8_t {
  /// Behind any record of the session: a branch.
  anywhere,
  /// Behind the session's head only; `aborted` if it has moved.
  at_head,
  /// Behind any record, with the number and the index that it says, and even if
  /// its parent has the same state: for a record that was made elsewhere, or
  /// that a store has lost. `aborted` if the session has had a record of this
  /// number or a greater one.
  as_it_was,
};

BOOST_DESCRIBE_ENUM(append_rule, anywhere, at_head, as_it_was)

// -- session -> store ---------------------------------------------------------

/// Keep this as the next snapshot of its session, which becomes its head: what
/// the session works on and its next turn follow from it. A session that is not
/// there yet is created.
///
/// If the parent has the same state, nothing is changed at all, and the parent
/// is the answer. A state that occurred anywhere else in the session is
/// recorded again. Equal text of another type, or another version of it, is
/// another state: it may mean something else.
///
/// `invalid_argument` if agent, session or snapshot id are empty, if the
/// content has no JSON, if `record.state` is not its id, or if a record that is
/// to be as it was has no number, or one beyond 2^63. `not_found` if
/// there is no such parent. `aborted` as `append_rule` says.
struct save_snapshot {
  save_snapshot() = default;
  save_snapshot(snapshot_record record, state content, append_rule where)
    : record(std::move(record)), content(std::move(content)), where(where) {}

  /// Without type, which is that of the content, and parent_id, which follows
  /// from the parent; so do sequence and index, unless it is to be as it was.
  snapshot_record record;
  state content;
  append_rule where = append_rule::anywhere;

  friend bool operator==(const save_snapshot&, const save_snapshot&) = default;
};

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, save_snapshot& x) {
  return f(caf::meta::type_name("tertulia::save_snapshot"), x.record, x.content,
           x.where);
}

/// Find a snapshot. `data_loss` if its record or its state is damaged, and
/// another message if it is missing.
struct get_snapshot {
  get_snapshot() = default;
  explicit get_snapshot(snapshot_ref which,
                        detail_level wanted = detail_level::state)
    : which(std::move(which)), wanted(wanted) {}

  snapshot_ref which;
  detail_level wanted = detail_level::state;

  friend bool operator==(const get_snapshot&, const get_snapshot&) = default;
};

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, get_snapshot& x) {
  return f(caf::meta::type_name("tertulia::get_snapshot"), x.which, x.wanted);
}

/// Make this snapshot the head of its session: what came after it is orphaned
/// by that, and an orphan is recovered. The session works on its state from
/// then on, and continues with the turn that follows it. A damaged state moves
/// nothing. The seeds' `InvalidateSnapshotsAfter`.
struct restore_snapshot {
  restore_snapshot() = default;
  explicit restore_snapshot(snapshot_ref which) : which(std::move(which)) {}

  snapshot_ref which;

  friend bool operator==(const restore_snapshot&, const restore_snapshot&)
    = default;
};

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, restore_snapshot& x) {
  return f(caf::meta::type_name("tertulia::restore_snapshot"), x.which);
}

/// List the snapshots of a session, oldest first, a page at a time. A session
/// that is not there has none. A damaged record is left out and named; a
/// damaged state is `data_loss`, if states are wanted.
struct list_snapshots {
  list_snapshots() = default;
  explicit list_snapshots(session_ref of) : of(std::move(of)) {}

  session_ref of;
  /// Whether orphaned records are listed, too.
  bool with_orphans = false;
  detail_level wanted = detail_level::record;
  /// Sequence number after which the page begins.
  std::uint64_t after = 0;
  /// Longest page: 1 to `max_page`, whatever is said.
  std::uint32_t limit = 100;

  friend bool operator==(const list_snapshots&, const list_snapshots&)
    = default;
};

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, list_snapshots& x) {
  return f(caf::meta::type_name("tertulia::list_snapshots"), x.of,
           x.with_orphans, x.wanted, x.after, x.limit);
}

/// Find a session; `not_found`.
struct get_session {
  get_session() = default;
  explicit get_session(session_ref which,
                       detail_level wanted = detail_level::state)
    : which(std::move(which)), wanted(wanted) {}

  session_ref which;
  detail_level wanted = detail_level::state;

  friend bool operator==(const get_session&, const get_session&) = default;
};

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, get_session& x) {
  return f(caf::meta::type_name("tertulia::get_session"), x.which, x.wanted);
}

/// Keep this as what the session works on, apart from its snapshots. A session
/// that is not there yet is created.
struct save_session {
  save_session() = default;
  save_session(session_ref which, state content, std::uint64_t next_turn)
    : which(std::move(which)), content(std::move(content)),
      next_turn(next_turn) {}

  session_ref which;
  state content;
  std::uint64_t next_turn = 0;

  friend bool operator==(const save_session&, const save_session&) = default;
};

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, save_session& x) {
  return f(caf::meta::type_name("tertulia::save_session"), x.which, x.content,
           x.next_turn);
}

// -- people and programs -> store ---------------------------------------------

/// List sessions, ordered by agent and id, a page at a time.
struct list_sessions {
  list_sessions() = default;

  /// Key of an agent whose sessions are meant; empty for all agents.
  std::string agent;
  /// Only those with a snapshot of this label; empty for all.
  std::string label;
  /// Only those that changed at or after this time.
  caf::timestamp updated_since;
  /// After which session the page begins; empty for the first page.
  session_ref after;
  /// Longest page: 1 to `max_page`, whatever is said.
  std::uint32_t limit = 100;

  friend bool operator==(const list_sessions&, const list_sessions&) = default;
};

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, list_sessions& x) {
  return f(caf::meta::type_name("tertulia::list_sessions"), x.agent, x.label,
           x.updated_since, x.after, x.limit);
}

/// Change the labels of a snapshot: first some are removed, then some are
/// added. `invalid_argument` for a label that is empty or longer than
/// `max_label_size`, `resource_exhausted` beyond `max_labels`.
struct label_snapshot {
  label_snapshot() = default;
  explicit label_snapshot(snapshot_ref which) : which(std::move(which)) {}

  snapshot_ref which;
  /// Those that it has already are no error.
  std::vector<std::string> add;
  /// Those that it has not are no error.
  std::vector<std::string> remove;

  friend bool operator==(const label_snapshot&, const label_snapshot&)
    = default;
};

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, label_snapshot& x) {
  return f(caf::meta::type_name("tertulia::label_snapshot"), x.which, x.add,
           x.remove);
}

/// Write a note on a snapshot in place of the one that it has. A note alone
/// does not keep a snapshot from being pruned. `invalid_argument` for a note
/// that is longer than `max_note_size` or not UTF-8.
struct annotate_snapshot {
  annotate_snapshot() = default;
  annotate_snapshot(snapshot_ref which, std::string note)
    : which(std::move(which)), note(std::move(note)) {}

  snapshot_ref which;
  /// Empty for none.
  std::string note;

  friend bool operator==(const annotate_snapshot&, const annotate_snapshot&)
    = default;
};

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, annotate_snapshot& x) {
  return f(caf::meta::type_name("tertulia::annotate_snapshot"), x.which,
           x.note);
}

/// Give a session a title, or another one, or none. That is no change of what
/// the session is: its time stays. `invalid_argument` for a title that is
/// longer than `max_title_size` or not UTF-8, `not_found`.
struct title_session {
  title_session() = default;
  title_session(session_ref which, std::string title)
    : which(std::move(which)), title(std::move(title)) {}

  session_ref which;
  /// Empty for none.
  std::string title;

  friend bool operator==(const title_session&, const title_session&) = default;
};

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, title_session& x) {
  return f(caf::meta::type_name("tertulia::title_session"), x.which, x.title);
}

/// Erase a session with all its records, and what no other session shares;
/// `not_found`.
struct delete_session {
  delete_session() = default;
  explicit delete_session(session_ref which) : which(std::move(which)) {}

  session_ref which;

  friend bool operator==(const delete_session&, const delete_session&)
    = default;
};

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, delete_session& x) {
  return f(caf::meta::type_name("tertulia::delete_session"), x.which);
}

/// Make a session that is a copy of another one, as a whole or up to a record
/// of it. Both go on by themselves from there: nothing that is done to one of
/// them changes the other.
///
/// The copy shares states and messages with its origin. Its records have the
/// numbers, ids, indexes, times, labels and notes that they have there; so an
/// id alone is ambiguous then, unless the copy belongs to another agent. The
/// session itself is new: it was made and changed now, and has the title of its
/// origin.
///
/// A copy of the whole has all records, orphans included, and the head of its
/// origin, works on the same state and goes on with the same turn. A copy up to
/// a record has that one as its head, orphaned or not, its ancestors and
/// nothing else; it works on the record's state and goes on with the turn that
/// follows it.
///
/// `not_found` without such a session or such a record of it, `already_exists`
/// if there is a session of the new name, `invalid_argument` if one of the
/// names is empty. Whoever copies to another agent says that it can read the
/// states. A damaged state is copied as it is.
struct copy_session {
  copy_session() = default;
  copy_session(session_ref from, session_ref to, std::uint64_t up_to = 0)
    : from(std::move(from)), to(std::move(to)), up_to(up_to) {}

  session_ref from;
  session_ref to;
  /// Sequence number of the last record that is copied; 0 for all there is.
  std::uint64_t up_to = 0;

  friend bool operator==(const copy_session&, const copy_session&) = default;
};

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, copy_session& x) {
  return f(caf::meta::type_name("tertulia::copy_session"), x.from, x.to,
           x.up_to);
}

/// Drop records that nobody is likely to want. Heads and labelled records stay;
/// the children of a dropped record hang on its nearest ancestor that stays, so
/// that what was active stays active. Indexes and numbers stay as they were.
struct prune_snapshots {
  prune_snapshots() = default;

  /// Key of an agent whose sessions are meant; empty for all agents.
  std::string agent;
  /// One session of the agent; empty for all.
  session_id session;
  /// Drop what was made before this time.
  caf::timestamp created_before = caf::timestamp::max();
  /// Of each session, keep this many of the newest records whatever their age.
  std::uint64_t keep_newest = 0;

  friend bool operator==(const prune_snapshots&, const prune_snapshots&)
    = default;
};

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, prune_snapshots& x) {
  return f(caf::meta::type_name("tertulia::prune_snapshots"), x.agent,
           x.session, x.created_before, x.keep_newest);
}

/// Look at all that is kept of sessions, a page at a time, and say what is
/// damaged: whether every state is there and has the hash that its id says, and
/// whether all that sessions and records refer to is there.
///
/// Sessions are looked at in the order of `list_sessions`; of each first
/// itself, with the state it works on, then its records, oldest first, with
/// their states. A state that is shared is looked at where it is referred to.
///
/// A store looks at no more in one go than it can within a blink, so pages may
/// be shorter than asked for, and serves others in between. What they change
/// behind the place that has been reached is looked at as it is by then.
/// `session_info.records` of all sessions says how long the way is.
///
/// `invalid_argument` for a session without its agent.
struct verify_sessions {
  verify_sessions() = default;

  /// Key of an agent whose sessions are meant; empty for all agents.
  std::string agent;
  /// One session of the agent; empty for all.
  session_id session;
  /// Where the last page ended: `verified_page.last` and `last_record`; empty
  /// and 0 for the first page.
  session_ref after;
  std::uint64_t after_record = 0;
  /// How many sessions and records are looked at: 1 to `max_page`, whatever is
  /// said.
  std::uint32_t limit = 100;

  friend bool operator==(const verify_sessions&, const verify_sessions&)
    = default;
};

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, verify_sessions& x) {
  return f(caf::meta::type_name("tertulia::verify_sessions"), x.agent,
           x.session, x.after, x.after_record, x.limit);
}

/// Give back to the disk what was erased. Nothing that is kept changes. A store
/// in a file writes it anew, which needs room for a second one meanwhile, and
/// serves nobody else until that is done; `resource_exhausted` without the
/// room. A store without a file has nothing to do.
struct vacuum_store {
  vacuum_store() noexcept {}

  friend bool operator==(const vacuum_store&, const vacuum_store&) = default;
};

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, vacuum_store&) {
  return f(caf::meta::type_name("tertulia::vacuum_store"));
}

// -- store -> whoever asked ---------------------------------------------------

/// A snapshot as a store has it.
struct stored_snapshot {
  stored_snapshot() = default;
  explicit stored_snapshot(snapshot_record record, state content = {})
    : record(std::move(record)), content(std::move(content)) {}

  /// Whether it is one: a store has numbered it.
  explicit operator bool() const noexcept {
    return record.sequence > 0;
  }

  snapshot_record record;
  /// Plain and without a value if only the record was wanted.
  state content;

  friend bool operator==(const stored_snapshot&, const stored_snapshot&)
    = default;
};

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, stored_snapshot& x) {
  return f(caf::meta::type_name("tertulia::stored_snapshot"), x.record,
           x.content);
}

/// What became of `save_snapshot`.
struct saved_snapshot {
  saved_snapshot() = default;
  saved_snapshot(snapshot_record record, bool created)
    : record(std::move(record)), created(created) {}

  /// The new record, or the parent if that has this state already.
  snapshot_record record;
  bool created = false;

  friend bool operator==(const saved_snapshot&, const saved_snapshot&)
    = default;
};

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, saved_snapshot& x) {
  return f(caf::meta::type_name("tertulia::saved_snapshot"), x.record,
           x.created);
}

/// How something is damaged.
enum class damage_kind : std::uint8_t {
  corrupt, ///< It is there, and is not what it was.
  missing, ///< It is gone, or a part of it is.
};

BOOST_DESCRIBE_ENUM(damage_kind, corrupt, missing)

/// Something that a store has lost or kept badly.
struct damage {
  damage() = default;
  damage(damage_kind kind, session_ref where, std::uint64_t sequence,
         state_id state, std::string what)
    : kind(kind), where(std::move(where)), sequence(sequence),
      state(std::move(state)), what(std::move(what)) {}

  damage_kind kind = damage_kind::corrupt;
  session_ref where;
  /// Which record of the session; 0 for the session itself.
  std::uint64_t sequence = 0;
  /// The state that is damaged; empty if something else is.
  state_id state;
  /// For people.
  std::string what;

  friend bool operator==(const damage&, const damage&) = default;
};

BOOST_DESCRIBE_STRUCT(damage, (), (kind, where, sequence, state, what))

/// One page of snapshots.
struct snapshot_page {
  snapshot_page() = default;

  std::vector<stored_snapshot> snapshots;
  /// Whether there are more behind the last one.
  bool more = false;
  /// What is there as well, but has not stayed what it was.
  std::vector<damage> damages;

  friend bool operator==(const snapshot_page&, const snapshot_page&) = default;
};

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, snapshot_page& x) {
  return f(caf::meta::type_name("tertulia::snapshot_page"), x.snapshots, x.more,
           x.damages);
}

/// A session as a store has it.
struct stored_session {
  stored_session() = default;

  session_info info;
  /// What it works on: as it was saved or restored last, or its head's state.
  /// Plain and without a value if only the record was wanted.
  state content;
  /// Its head; false without records.
  stored_snapshot head;

  friend bool operator==(const stored_session&, const stored_session&)
    = default;
};

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, stored_session& x) {
  return f(caf::meta::type_name("tertulia::stored_session"), x.info, x.content,
           x.head);
}

/// One page of sessions.
struct session_page {
  session_page() = default;

  std::vector<session_info> sessions;
  /// Whether there are more behind the last one.
  bool more = false;
  /// What is there as well, but has not stayed what it was.
  std::vector<damage> damages;

  friend bool operator==(const session_page&, const session_page&) = default;
};

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, session_page& x) {
  return f(caf::meta::type_name("tertulia::session_page"), x.sessions, x.more,
           x.damages);
}

/// What a page of `verify_sessions` came to.
struct verified_page {
  verified_page() = default;

  /// How many were looked at.
  std::uint64_t sessions = 0;
  std::uint64_t records = 0;
  /// What is damaged of these; the same state again for each that has it.
  std::vector<damage> damages;
  /// What was looked at last: a record, or the session itself if that is 0.
  session_ref last;
  std::uint64_t last_record = 0;
  /// Whether there is more behind that.
  bool more = false;

  friend bool operator==(const verified_page&, const verified_page&) = default;
};

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, verified_page& x) {
  return f(caf::meta::type_name("tertulia::verified_page"), x.sessions,
           x.records, x.damages, x.last, x.last_record, x.more);
}

/// What `delete_session` and `prune_snapshots` took away.
struct erased {
  erased() = default;
  erased(std::uint64_t records, std::uint64_t states)
    : records(records), states(states) {}

  std::uint64_t records = 0;
  /// States that nothing refers to any more.
  std::uint64_t states = 0;

  friend bool operator==(const erased&, const erased&) = default;
};

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, erased& x) {
  return f(caf::meta::type_name("tertulia::erased"), x.records, x.states);
}

/// What `vacuum_store` has come to.
struct vacuumed {
  vacuumed() = default;
  vacuumed(std::uint64_t bytes_before, std::uint64_t bytes_after)
    : bytes_before(bytes_before), bytes_after(bytes_after) {}

  /// The size of the file; 0 without one.
  std::uint64_t bytes_before = 0;
  std::uint64_t bytes_after = 0;

  friend bool operator==(const vacuumed&, const vacuumed&) = default;
};

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, vacuumed& x) {
  return f(caf::meta::type_name("tertulia::vacuumed"), x.bytes_before,
           x.bytes_after);
}

} // namespace tertulia
