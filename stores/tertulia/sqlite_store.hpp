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

/// What an answer of a store is worth. Neither can damage the file.
enum class durability : std::uint8_t {
  /// What was answered is there after a power cut. A transaction waits for the
  /// disk.
  power_cut,
  /// What was answered is there after `kill -9`. A power cut may take what came
  /// last, whole transactions from the end.
  process,
};

/// How a store works on its file.
///
/// @threads a value.
struct sqlite_options {
  sqlite_options() = default;

  durability survives = durability::power_cut;

  /// How long to wait for another store that has the file, and for another
  /// program that writes to it.
  caf::timespan patience = std::chrono::seconds{5};

  /// So many requests at most go into one transaction.
  std::uint32_t max_batch = 256;

  /// The store remembers which messages it has on disk of those sessions that
  /// were busy last, as many messages as this altogether. They cost memory only
  /// once a session has ended; a session that is not remembered costs its next
  /// save one read of its messages.
  std::size_t remembered_messages = 1'000'000;

  /// When the store is opened again after its actor has died.
  restart_options restarts;
};

/// Opens a store in a file, and makes the file if there is none: for everything
/// on one machine that has to be there tomorrow.
///
/// Messages are written once, however many snapshots have them: a save writes
/// what is new. All saves that wait while the disk is busy go into one
/// transaction, and each is answered after it. Reading a record or a list does
/// not touch messages and values. All that comes out has been verified.
///
/// The store works on a thread of its own and is supervised.
///
/// One store at a time has the file, whatever name it was opened by: the kernel
/// keeps a lock on it. Other programs may read the file with SQLite meanwhile;
/// this one opens it in no other way and closes what it has open of it before
/// the store ends, or SQLite loses its locks. SQLite keeps `<file>-wal` and
/// `<file>-shm` beside it while it is open: they belong to it and have to be
/// copied with it. A file on a network file system is not for this.
///
/// Standard input, output and error are `/dev/null` afterwards if they were
/// closed. A thread that opens or closes a file, and the store's own, block
/// `SIGXFSZ`; the process's way with signals stays as it is.
///
/// @param    file a relative name is one of the folder in which the process is
///           now, also for restarts. It is never taken for a URI.
/// @errors   throws `unavailable` if another store has the file,
///           `failed_precondition` if it is no store, has several hard links or
///           was written by a newer version of this library, `not_found`
///           without its folder, `permission_denied`, `data_loss`,
///           `invalid_argument` for an empty name, `resource_exhausted` if
///           there is no thread for it. Requests: as the protocol says;
///           `resource_exhausted` for a full disk or a file that may not become
///           larger; `data_loss` for a change if the file was removed, moved or
///           replaced meanwhile; `unavailable` if the disk fails or the actor
///           dies, and what was asked may have happened.
/// @threads  any; blocks until the file is open.
/// @lifetime the store ends with its last handle, and closes the file. Who
///           tells it to exit and waits for that finds the file closed. The
///           end of the actor system waits for it: no handle may outlive
///           that, and none may be held, nor registered, while
///           `await_all_actors_done` is called.
/// @design   README §5.15 "Records and states"; stores/sqlite_format.md.
[[nodiscard]] managed_store spawn_sqlite_store(caf::actor_system& system,
                                               std::filesystem::path file,
                                               sqlite_options options = {});

} // namespace tertulia
