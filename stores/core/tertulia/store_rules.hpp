// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/store.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

// Rules that are common to all stores, however they keep their data, and the
// texts of their errors. All functions that reject something throw
// `status_error`.

namespace tertulia::rules {

/// Maximum number of sessions that the error about an ambiguous id names.
inline constexpr std::size_t named_sessions = 3;

// -- requests -----------------------------------------------------------------

/// Rejects a reference that does not name a session, and a name that is not
/// allowed for a session.
void check(const session_ref& x);

/// Rejects a reference that does not name a session. Names that are not allowed
/// are accepted, because older versions have created such sessions: they can
/// still be deleted, and copied to another name.
void check_known(const session_ref& x);

/// Rejects a reference that cannot refer to a snapshot.
void check(const snapshot_ref& x);

/// Rejects a snapshot that cannot be stored, whatever the content of the store.
/// Afterwards the labels of the record are in order, and its type is that of
/// the state.
void check(save_snapshot_request& x);

/// Rejects a session that cannot be stored.
/// @returns the id of the state.
[[nodiscard]] state_id check(const save_session_request& x);

/// Rejects a session without its agent.
void check(const prune_snapshots_request& x);

/// Rejects a request unless both of its references name sessions.
void check(const copy_session_request& x);

/// Rejects a lease of an invalid session, or without a holder.
void check(const acquire_lease_request& x);

/// Rejects a run that cannot be stored. Afterwards the text of its error is
/// not too long.
void check(save_run_request& x);

/// Rejects a reference that names neither a run nor a session.
void check(const run_ref& x);

/// Returns whether a run has missed its heartbeats since a time.
[[nodiscard]] bool is_late(const stored_run& x, timestamp since, timestamp now);

/// Returns the status of a run as it is read at a time.
[[nodiscard]] run_status status_at(const stored_run& x, timestamp now);

/// Rejects the snapshot with which a run ends, unless it has completed.
void check_complete(const stored_run& x, timestamp now);

/// Rejects a note that is too long or not UTF-8.
void check(const annotate_snapshot_request& x);

/// Rejects a title that is too long or not UTF-8, and an invalid session.
void check(const title_session_request& x);

/// Rejects a session without its agent.
void check(const verify_sessions_request& x);

/// Rejects a list by change without its agent, or after its first page.
void check(const list_sessions_request& x);

/// Largest sequence number of a record: databases do not support larger
/// numbers.
inline constexpr std::uint64_t max_sequence = (std::uint64_t{1} << 63u) - 1;

/// Rejects a record that has to follow the head but does not, a record whose
/// number has been used, and a record for which there is no number left.
/// @param last greatest number that the session has ever used.
void check_place(const save_snapshot_request& x, std::uint64_t head,
                 std::uint64_t last);

/// Rejects a change if the session is not in one of the positions that the
/// change may follow.
/// @param now position of the session; the default value if the session does
///        not exist.
void check_position(const session_ref& session,
                    const std::vector<session_position>& follows,
                    const session_position& now);

/// Rejects a change with a fence that is not the one of the session's lease.
/// @param fence   0 for a change without a lease, which is not rejected.
/// @param current fence of the lease; 0 without a lease.
void check_fence(const session_ref& session, std::uint64_t fence,
                 std::uint64_t current);

/// Removes and adds labels, which remain ordered and distinct. If this throws,
/// the content of `labels` is unspecified.
void relabel(std::vector<std::string>& labels,
             const std::vector<std::string>& add,
             const std::vector<std::string>& remove);

/// Sets the fields of a session that lists show of its working state. The cost
/// depends only on the last messages.
void describe(session_info& x, const state& content);

/// Notes how many inputs the new working state of a session contains, and the
/// name of its last turn. The names of turns that this state does not contain
/// are forgotten.
/// @param inputs empty if they were not counted: all turns are forgotten then.
/// @param turn   empty if the last turn has no name, or if its name is known.
void note_turn(session_info& x, std::optional<std::uint64_t> inputs,
               std::optional<turn_id> turn = std::nullopt);

/// Returns the maximum size of a page for a requested limit.
[[nodiscard]] std::size_t page_size(std::uint32_t limit);

// -- stored data --------------------------------------------------------------

[[noreturn]] void reject_unknown(const session_ref& x);
[[noreturn]] void reject_unknown(const snapshot_ref& x);

[[noreturn]] void reject_existing(const session_ref& x);

/// Rejects a session whose lease another one holds.
/// @param owner process of the holder; may be empty.
[[noreturn]] void reject_held(const session_ref& x, const std::string& owner);

/// Rejects an id that occurs in several sessions. The error names the first
/// `named_sessions` of them; the others are ignored.
[[noreturn]] void reject_ambiguous(const snapshot_ref& x,
                                   std::vector<std::string> sessions);

/// Returns the error message for a state that does not match its id or is
/// missing.
[[nodiscard]] std::string text_of(damage_kind kind, const state_id& x);

/// Returns the damage of a record that refers to such a state.
[[nodiscard]] damage damage_of(damage_kind kind, const snapshot_record& x);

/// Throws the error for a state that does not match its id.
[[noreturn]] void reject_corrupt(const state_id& x);

/// Throws the error for a state that is missing, completely or in part.
[[noreturn]] void reject_missing(const state_id& x);

} // namespace tertulia::rules
