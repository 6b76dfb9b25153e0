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

// One session as one file of JSON lines, to be kept, sent and read back, here
// or into another store.
//
//   {"format":"tertulia-session","version":1,"session":{…}}
//   {"record":{"sequence":1,…},"form":"conversation","messages":[…]}
//   {"record":{"sequence":2,…},"form":"conversation","keep":2,"messages":[…]}
//   {"end":{"records":2,"sha256":"…"},"form":"conversation","keep":4}
//
// The first line names the session. Each record follows, oldest first, with its
// state: how many messages it has in common with the line before, at the
// beginning, those that follow, and custom value and artifacts unless `same`
// says that they are those of the line before. The last line has the state that
// the session works on, and the SHA-256 of all bytes before it. A type that has
// a name, or another version than 1, is told by `record` and `end`.

namespace tertulia {

/// The version of the format that is written, and the newest that is read.
inline constexpr std::uint32_t session_file_version = 1;

/// How a session is read from a store or written into one.
///
/// @threads a value.
struct session_file_options {
  session_file_options() = default;

  /// Longest wait for one answer of the store.
  caf::timespan within = std::chrono::minutes{1};

  /// Longest line that is read, in bytes. A store holds no value that is
  /// longer.
  std::size_t max_line = 1'000'000'000;

  /// Called now and then with the number of records that are done, and of all.
  std::function<void(std::uint64_t, std::uint64_t)> progress;
};

/// Writes a session into a file: all its records, orphans and labels included,
/// all states, each verified, and what it works on. Needs memory for a few
/// states, however many records there are.
///
/// @returns the session that was written.
/// @errors  throws `not_found`; `data_loss` if a state is damaged; `aborted` if
///          the session has changed meanwhile; `unavailable` if the file takes
///          no more; `deadline_exceeded`. What was written then is no session.
/// @threads any but that of an actor: it blocks.
session_info export_session(caf::actor_system& system,
                            const snapshot_store& store,
                            const session_ref& which, std::ostream& to,
                            const session_file_options& options = {});

/// Makes a session of a file: with the records, numbers, times, labels and ids
/// that it had, but made and changed now. Every hash is verified. Needs memory
/// for a few states, however many records there are.
///
/// The session is there as a whole or not at all. Until it is, its records are
/// those of a session with `.import-` and a UUID behind its name, which is gone
/// afterwards; one that an import has left behind whose process died can be
/// deleted.
///
/// @param   as another name for the session; what is empty in it is as the file
///          says.
/// @returns the session that was made.
/// @errors  throws `data_loss` for a file that is damaged or not complete, and
///          `failed_precondition` for what is no such file or is from a newer
///          version: both name the line, as `line` in the details, too.
///          `invalid_argument` for a name that no session may have;
///          `already_exists`; what the store says.
/// @threads any but that of an actor: it blocks.
session_info import_session(caf::actor_system& system,
                            const managed_store& store, std::istream& from,
                            const session_ref& as = {},
                            const session_file_options& options = {});

} // namespace tertulia
