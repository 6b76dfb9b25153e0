// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/snapshot.hpp>
#include <tertulia/state.hpp>
#include <tertulia/store/damage.hpp>
#include <tertulia/store/names.hpp>

#include <caf/meta/type_name.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

// What is said to a store about snapshots, and what it answers.

namespace tertulia {

/// The longest label, in bytes.
inline constexpr std::size_t max_label_size = 256;

/// The longest note on a snapshot, in bytes.
inline constexpr std::size_t max_note_size = 4'096;

/// How many labels a snapshot may have.
inline constexpr std::size_t max_labels = 64;

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
/// there is no such parent. `aborted` as `append_rule` says, or if the session
/// is in none of the positions that the snapshot follows.
struct save_snapshot {
  save_snapshot() = default;
  save_snapshot(snapshot_record record, state content, append_rule where,
                std::vector<session_position> follows = {})
    : record(std::move(record)), content(std::move(content)), where(where),
      follows(std::move(follows)) {}

  /// Without type, which is that of the content, and parent_id, which follows
  /// from the parent; so do sequence and index, unless it is to be as it was.
  snapshot_record record;
  state content;
  append_rule where = append_rule::anywhere;
  /// As in `save_session`.
  std::vector<session_position> follows;

  friend bool operator==(const save_snapshot&, const save_snapshot&) = default;
};

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, save_snapshot& x) {
  return f(caf::meta::type_name("tertulia::save_snapshot"), x.record, x.content,
           x.where, x.follows);
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
/// that is not there has none. A damaged record is left out and named; so is
/// one whose state is damaged, if states are wanted.
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

} // namespace tertulia
