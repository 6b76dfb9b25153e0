// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/detail/compiled_once.hpp>
#include <tertulia/snapshot.hpp>
#include <tertulia/state.hpp>
#include <tertulia/store/damage.hpp>
#include <tertulia/store/names.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

// Requests to a store about snapshots, and its replies.

namespace tertulia {

/// Maximum length of a label, in bytes.
inline constexpr std::size_t max_label_size = 256;

/// Maximum length of a note on a snapshot, in bytes.
inline constexpr std::size_t max_note_size = 4'096;

/// Maximum number of labels on a snapshot.
inline constexpr std::size_t max_labels = 64;

/// Rule for the place at which a record may be added to a session.
enum class append_rule : std::uint8_t {
  /// After any record of the session: a branch.
  anywhere,
  /// Only after the session's head; `aborted` if the head has moved.
  at_head,
  /// After any record, with the number and index of the given record, and even
  /// if its parent has the same state. For a record that was made elsewhere, or
  /// that a store has lost. `aborted` if the session has had a record of this
  /// number or a greater one.
  as_it_was,
};

BOOST_DESCRIBE_ENUM(append_rule, anywhere, at_head, as_it_was)

/// Request to save the next snapshot of a session. It becomes the head of the
/// session, which continues with its state and with the turn that follows it. A
/// session that does not exist is created.
///
/// If the parent has the same state, nothing is changed and the reply is the
/// parent. A state that occurred anywhere else in the session is recorded
/// again. Equal text of another type, or of another version of the type, is
/// another state: it may mean something else.
///
/// `invalid_argument` if `check_name` rejects the session, if the snapshot id
/// is empty, if the content has no JSON, if `record.state` is not its id, if
/// the event is unknown, if a label or the note is invalid, or if a record
/// under `append_rule::as_it_was` has no number or one of 2^63 or more.
/// `not_found` if the parent does not exist. `aborted` according to
/// `append_rule`, if the session is in none of the positions that the snapshot
/// follows, or if another fence was granted than that of the snapshot.
/// `failed_precondition` without a fence if the session has a lease, unless the
/// rule is `append_rule::anywhere`: a branch needs no lease.
/// `resource_exhausted` for more than `max_labels` labels, or
/// if the session has no number left for another record.
struct save_snapshot_request : memberwise {
  save_snapshot_request() = default;
  save_snapshot_request(snapshot_record record, state content, append_rule rule,
                        std::vector<session_position> follows = {},
                        std::uint64_t fence = 0)
    : record(std::move(record)), content(std::move(content)), rule(rule),
      follows(std::move(follows)), fence(fence) {}

  /// The store sets the type from the content, and parent_id from the parent.
  /// It also sets sequence and index, unless the rule is
  /// `append_rule::as_it_was`.
  snapshot_record record;
  state content;
  append_rule rule = append_rule::anywhere;
  /// As in `save_session_request`.
  std::vector<session_position> follows;
  std::uint64_t fence = 0;
  /// As in `save_session_request`.
  std::optional<turn_id> turn;
};

BOOST_DESCRIBE_STRUCT(save_snapshot_request, (),
                      (record, content, rule, follows, fence, turn))

/// Request for a snapshot. `data_loss` if its record or its state is damaged;
/// the message differs if it is missing.
struct get_snapshot_request : store_read {
  get_snapshot_request() = default;
  explicit get_snapshot_request(snapshot_ref snapshot,
                                detail_level detail = detail_level::state)
    : target(std::move(snapshot)), detail(detail) {}

  snapshot_ref target;
  detail_level detail = detail_level::state;
};

BOOST_DESCRIBE_STRUCT(get_snapshot_request, (), (target, detail))

/// Request to make a snapshot the head of its session. Records after it become
/// orphans; an orphaned snapshot becomes active again. The session then works
/// on the state of the snapshot and continues with the turn that follows it. If
/// the state is damaged, the head does not move; neither does it if another
/// fence was granted than that of the request (`aborted`).
/// `failed_precondition` without a fence if the session is named and has a
/// lease. Genkit's `InvalidateSnapshotsAfter`.
struct restore_snapshot_request : memberwise {
  restore_snapshot_request() = default;
  explicit restore_snapshot_request(snapshot_ref snapshot,
                                    std::uint64_t fence = 0)
    : target(std::move(snapshot)), fence(fence) {}

  snapshot_ref target;
  /// Fence of the writer's lease; 0 without a lease.
  std::uint64_t fence = 0;
};

BOOST_DESCRIBE_STRUCT(restore_snapshot_request, (), (target, fence))

/// Request for a page of the snapshots of a session, oldest first. The list is
/// empty if the session does not exist. A damaged record is left out and
/// reported; so is a record with a damaged state, if states are requested.
struct list_snapshots_request : store_read {
  list_snapshots_request() = default;
  explicit list_snapshots_request(session_ref session)
    : session(std::move(session)) {}

  session_ref session;
  /// True if orphaned records are to be included.
  bool with_orphans = false;
  detail_level detail = detail_level::record;
  /// Sequence number after which the page begins.
  std::uint64_t after = 0;
  /// Maximum length of the page, clamped to the range from 1 to `max_page`.
  std::uint32_t limit = 100;
};

BOOST_DESCRIBE_STRUCT(list_snapshots_request, (),
                      (session, with_orphans, detail, after, limit))

/// Request to change the labels of a snapshot. Labels are first removed, then
/// added. `invalid_argument` for a label that is empty or longer than
/// `max_label_size`, `resource_exhausted` beyond `max_labels`.
struct label_snapshot_request : memberwise {
  label_snapshot_request() = default;
  explicit label_snapshot_request(snapshot_ref snapshot)
    : target(std::move(snapshot)) {}

  snapshot_ref target;
  /// Labels that the snapshot already has are not an error.
  std::vector<std::string> add;
  /// Labels that the snapshot does not have are not an error.
  std::vector<std::string> remove;
};

BOOST_DESCRIBE_STRUCT(label_snapshot_request, (), (target, add, remove))

/// Request to set or replace the note on a snapshot. A note alone does not
/// protect a snapshot from pruning. `invalid_argument` for a note that is
/// longer than `max_note_size` or not UTF-8.
struct annotate_snapshot_request : memberwise {
  annotate_snapshot_request() = default;
  annotate_snapshot_request(snapshot_ref snapshot, std::string note)
    : target(std::move(snapshot)), note(std::move(note)) {}

  snapshot_ref target;
  /// Empty to remove the note.
  std::string note;
};

BOOST_DESCRIBE_STRUCT(annotate_snapshot_request, (), (target, note))

/// Snapshot as it is in a store.
struct stored_snapshot : memberwise {
  stored_snapshot() = default;
  explicit stored_snapshot(snapshot_record record, state content = {})
    : record(std::move(record)), content(std::move(content)) {}

  /// Returns whether this is a stored snapshot: a store has numbered it.
  explicit operator bool() const noexcept {
    return record.sequence > 0;
  }

  snapshot_record record;
  /// Plain and without a value if only the record was requested.
  state content;
};

BOOST_DESCRIBE_STRUCT(stored_snapshot, (), (record, content))

/// Result of `save_snapshot_request`.
struct save_result : memberwise {
  save_result() = default;
  save_result(snapshot_record record, bool created)
    : record(std::move(record)), created(created) {}

  /// The new record, or the parent if the parent already has this state.
  snapshot_record record;
  bool created = false;
};

BOOST_DESCRIBE_STRUCT(save_result, (), (record, created))

/// One page of snapshots.
struct snapshot_page : memberwise {
  snapshot_page() = default;

  std::vector<stored_snapshot> snapshots;
  /// True if more snapshots follow the last one.
  bool more = false;
  /// Entries that are left out of the page because they are damaged.
  std::vector<damage> damages;
};

BOOST_DESCRIBE_STRUCT(snapshot_page, (), (snapshots, more, damages))

} // namespace tertulia

TERTULIA_COMPILED_ONCE(tertulia::annotate_snapshot_request)
TERTULIA_COMPILED_ONCE(tertulia::get_snapshot_request)
TERTULIA_COMPILED_ONCE(tertulia::label_snapshot_request)
TERTULIA_COMPILED_ONCE(tertulia::list_snapshots_request)
TERTULIA_COMPILED_ONCE(tertulia::restore_snapshot_request)
TERTULIA_COMPILED_ONCE(tertulia::save_result)
TERTULIA_COMPILED_ONCE(tertulia::save_snapshot_request)
TERTULIA_COMPILED_ONCE(tertulia::snapshot_page)
TERTULIA_COMPILED_ONCE(tertulia::stored_snapshot)
