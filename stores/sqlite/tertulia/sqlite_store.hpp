// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/protocol.hpp>
#include <tertulia/store.hpp>
#include <tertulia/store_supervisor.hpp>

#include <caf/fwd.hpp>
#include <caf/timespan.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>

namespace tertulia {

/// Durability of a change that has been answered. Neither level can damage the
/// file.
enum class durability : std::uint8_t {
  /// The change survives a power cut. Each transaction waits for the disk.
  power_cut,
  /// The change survives `kill -9`. A power cut may lose the latest changes, as
  /// whole transactions from the end.
  process,
};

/// Options of a SQLite store.
///
/// @threads a value.
struct sqlite_options {
  sqlite_options() = default;

  durability survives = durability::power_cut;

  /// Longest wait for another store that has the file open, and for another
  /// program that writes to it.
  caf::timespan patience = std::chrono::seconds{5};

  /// Maximum number of requests in one transaction.
  std::uint32_t max_batch = 256;

  /// Maximum number of messages, over all sessions, that the store remembers as
  /// being on disk. It remembers those of the most recently used sessions. They
  /// take memory only after their session has ended. The next save of a session
  /// that is not remembered reads its messages once.
  std::size_t remembered_messages = 1'000'000;

  /// Policy for reopening the store after its actor has died.
  restart_options restarts;
};

/// Opens a store in a file, which is created if it does not exist. Suitable for
/// everything on one machine that has to persist.
///
/// Messages are written once, however many snapshots contain them: a save
/// writes only the new ones. All saves that wait while the disk is busy are
/// written in one transaction, and each is answered after it. Reading a record
/// or a list does not touch messages and values. All returned data has been
/// verified.
///
/// The store runs on its own thread and is supervised.
///
/// Only one store at a time has the file open, under whatever name it was
/// opened: the kernel keeps a lock on it. Other programs may read the file with
/// SQLite meanwhile. Other code in this process may open it only with the same
/// copy of the SQLite library, because a process loses SQLite's locks on a file
/// when it closes a descriptor of the file in any other way. The store does so
/// when it ends, also for a restart: such code must close its connections
/// before that.
///
/// SQLite keeps `<file>-wal` and `<file>-shm` next to the file while it is
/// open: they belong to it and have to be copied with it. Files on network file
/// systems are not supported.
///
/// Standard input, output and error are opened as `/dev/null` if they were
/// closed. `SIGXFSZ` is blocked on the thread of the store, and on a thread
/// while it opens or closes a file; the signal dispositions of the process
/// remain unchanged.
///
/// @param    file a relative name is resolved against the working directory at
///           the time of this call, also for restarts. The name is never
///           interpreted as a URI.
/// @errors   throws `unavailable` if another store has the file open, the disk
///           fails, a damaged log cannot be copied, or another file was in its
///           place for a moment while it was opened; `failed_precondition` if
///           the file is not a store, has several hard links or was written by
///           a newer version of this library; `not_found` if its directory
///           does not exist; `permission_denied`; `data_loss` if the file is
///           damaged, or was removed or replaced while it was opened;
///           `invalid_argument` for a name that is empty or contains a NUL and
///           for an option out of range; `resource_exhausted` if a thread
///           cannot be started, the disk is full or the file may not grow.
///           Requests fail as the protocol states; with `resource_exhausted`
///           if the disk is full or the file may not grow; with `data_loss` for
///           a change if the file was removed, moved or replaced meanwhile;
///           with `unavailable` if the disk fails or the actor dies: then the
///           request may have been executed.
/// @threads  any; blocks until the file is open.
/// @lifetime the store ends with its last handle and closes the file. After an
///           exit message, the file is closed when the actor has terminated.
///           The shutdown of the actor system waits for the store: handles must
///           not outlive the shutdown, and must not be held or registered while
///           `await_all_actors_done` is called.
/// @design   docs/sessions.md#records-and-states; docs/sqlite-format.md.
[[nodiscard]] managed_store spawn_sqlite_store(caf::actor_system& system,
                                               std::filesystem::path file,
                                               sqlite_options options = {});

} // namespace tertulia
