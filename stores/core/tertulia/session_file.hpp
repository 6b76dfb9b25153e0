// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/protocol.hpp>
#include <tertulia/store.hpp>

#include <caf/fwd.hpp>
#include <caf/timespan.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iosfwd>

// One session as a file of JSON lines, which can be kept, sent, and imported
// into the same or another store.
//
//   {"format":"tertulia-session","version":1,"session":{…}}
//   {"record":{"sequence":1,…},"form":"conversation","messages":[…]}
//   {"record":{"sequence":2,…},"form":"conversation","keep":2,"messages":[…]}
//   {"end":{"records":2,"sha256":"…"},"form":"conversation","keep":4}
//
// The first line names the session. The records follow, oldest first, each with
// its state: the number of leading messages that it shares with the line before
// (`keep`), the messages after those, and the custom value and the artifacts,
// unless `same` names them as equal to those of the line before. The last line
// contains the working state of the session and the SHA-256 of all bytes before
// it. `record` and `end` contain the type of a state if it has a name or a
// version other than 1.

namespace tertulia {

/// Version of the format that is written, and the newest version that can be
/// read.
inline constexpr std::uint32_t session_file_version = 1;

/// Options of an export or an import.
///
/// @threads a value.
struct session_file_options {
  session_file_options() = default;

  /// Longest wait for one answer of the store.
  caf::timespan within = std::chrono::minutes{1};

  /// Maximum length of a line, in bytes. A store does not hold longer values.
  std::size_t max_line = 1'000'000'000;

  /// Called after each record with the number of records that are done and the
  /// total number of records.
  std::function<void(std::uint64_t, std::uint64_t)> progress;
};

/// Writes a session to a file: all records, including orphans and labels, all
/// states, each of them verified, and the working state. Needs memory for a few
/// states, however many records there are.
///
/// @returns the exported session.
/// @errors  throws `not_found`; `data_loss` if a state is damaged; `aborted` if
///          the session has changed meanwhile; `unavailable` if the file cannot
///          be written; `deadline_exceeded`. After an error the file is not a
///          valid session file.
/// @threads any except that of an actor: it blocks.
session_info export_session(caf::actor_system& system,
                            const snapshot_store& store,
                            const session_ref& session, std::ostream& to,
                            const session_file_options& options = {});

/// Creates a session from a file, with the original records, numbers, times,
/// labels and ids. Its times of creation and of the last change are those of
/// the import. Every hash is verified. Needs memory for the states that are
/// being saved, at most 64 at a time, and 8 bytes for the number of each
/// record.
///
/// The session is imported completely or not at all. During the import its
/// records belong to a temporary session, whose name is that of the session
/// followed by `.import-` and a UUID. The import deletes it at the end. If the
/// process dies during the import, the temporary session remains and can be
/// deleted.
///
/// @param   as a different name for the session; its empty parts are taken from
///          the file.
/// @returns the created session.
/// @errors  throws `data_loss` for a file that is damaged or incomplete, and
///          `failed_precondition` for a file that is not a session file or has
///          a newer version. Both name the line, also as `line` in the details.
///          `invalid_argument` for a name that is not allowed for a session;
///          `already_exists`; the errors of the store.
/// @threads any except that of an actor: it blocks.
session_info import_session(caf::actor_system& system,
                            const managed_store& store, std::istream& from,
                            const session_ref& as = {},
                            const session_file_options& options = {});

} // namespace tertulia
