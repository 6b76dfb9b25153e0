// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/store.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

// What a store decides, whatever it keeps its data in, and the words in which
// it says no. All that reject throw `status_error`.

namespace tertulia::rules {

/// How many sessions the error about an ambiguous id names.
inline constexpr std::size_t named_sessions = 3;

// -- what is said to a store --------------------------------------------------

/// Rejects what names no session, and names that no session may have.
void check(const session_ref& x);

/// Rejects what names no session. A session whose name is not allowed can be
/// deleted and copied to another name: older versions have accepted such names.
void check_known(const session_ref& x);

/// Rejects what can mean no snapshot.
void check(const snapshot_ref& x);

/// Rejects what cannot be kept, whatever the store knows. The labels of the
/// record are in order afterwards, and its type is that of the state.
void check(save_snapshot& x);

/// Rejects what cannot be kept.
/// @returns the id of the state.
[[nodiscard]] state_id check(const save_session& x);

/// Rejects what names a session without its agent.
void check(const prune_snapshots& x);

/// Rejects what names no session twice.
void check(const copy_session& x);

/// Rejects a note that cannot be shown.
void check(const annotate_snapshot& x);

/// Rejects a title that cannot be shown.
void check(const title_session& x);

/// Rejects what names a session without its agent.
void check(const verify_sessions& x);

/// The largest number of a record: databases have no larger ones.
inline constexpr std::uint64_t max_sequence = (std::uint64_t{1} << 63u) - 1;

/// Rejects a record that does not follow the head although it has to, one whose
/// number is taken, and one for which there is no number left.
/// @param last the greatest number that the session has had.
void check_place(const save_snapshot& x, std::uint64_t head,
                 std::uint64_t last);

/// Rejects a change that follows none of the positions that it may follow.
/// @param now position of the session; by default without one.
void check_position(const session_ref& of,
                    const std::vector<session_position>& follows,
                    const session_position& now);

/// Removes and adds labels, which stay ordered and distinct. What is rejected
/// leaves `labels` in whatever state.
void relabel(std::vector<std::string>& labels,
             const std::vector<std::string>& add,
             const std::vector<std::string>& remove);

/// Writes down what lists show of the state that a session works on. Costs as
/// much as its last messages.
void describe(session_info& x, const state& content);

/// The longest page that is meant by a limit.
[[nodiscard]] std::size_t page_size(std::uint32_t limit);

// -- what a store knows -------------------------------------------------------

[[noreturn]] void reject_unknown(const session_ref& x);
[[noreturn]] void reject_unknown(const snapshot_ref& x);

[[noreturn]] void reject_existing(const session_ref& x);

/// An id means the first session of these just as much as the others. All but
/// the first `named_sessions` are not looked at.
[[noreturn]] void reject_ambiguous(const snapshot_ref& x,
                                   std::vector<std::string> sessions);

/// Says that a state is not what its id says, or that it is gone.
[[nodiscard]] std::string text_of(damage_kind kind, const state_id& x);

/// Says the same of a record that has such a state.
[[nodiscard]] damage damage_of(damage_kind kind, const snapshot_record& x);

/// A state is not what its id says.
[[noreturn]] void reject_corrupt(const state_id& x);

/// A state, or a part of it, is gone.
[[noreturn]] void reject_missing(const state_id& x);

} // namespace tertulia::rules
