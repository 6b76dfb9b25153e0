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
/// One store at a time has the file: `<file>-lock` says so, which stays there.
/// Other programs may read the file with SQLite meanwhile. SQLite keeps
/// `<file>-wal` and `<file>-shm` beside it while it is open: they belong to it
/// and have to be copied with it.
///
/// @errors   throws `unavailable` if another store has the file,
///           `failed_precondition` if it is no store or was written by a newer
///           version of this library, `not_found` without its folder,
///           `permission_denied`, `data_loss`. Requests: as the protocol says;
///           `resource_exhausted` for a full disk; `unavailable` if the disk
///           fails or the actor dies, and what was asked may have happened.
/// @threads  any; blocks until the file is open.
/// @lifetime the store ends with its last handle, and closes the file. Who
///           tells it to exit and waits for that finds the file closed.
/// @design   README §5.15 "Records and states"; stores/sqlite_format.md.
[[nodiscard]] managed_store spawn_sqlite_store(caf::actor_system& system,
                                               std::filesystem::path file,
                                               sqlite_options options = {});

} // namespace tertulia
