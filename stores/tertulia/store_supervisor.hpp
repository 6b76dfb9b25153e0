// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/protocol.hpp>
#include <tertulia/store.hpp>

#include <caf/duration.hpp>
#include <caf/fwd.hpp>
#include <caf/timespan.hpp>

#include <chrono>
#include <cstdint>
#include <functional>

namespace tertulia {

/// Starts a store, or throws if it cannot be started. Called from any thread,
/// one call at a time; may block for as long as opening a file takes.
using store_factory = std::function<managed_store(caf::actor_system&)>;

/// When a store that has died is started again.
///
/// The first time at once; then after a pause that is twice as long each time.
/// Who has lived for a whole `period` is trusted again.
///
/// @threads a value.
struct restart_options {
  restart_options() = default;

  /// Between the second death of a store and its restart.
  caf::timespan first_pause = std::chrono::milliseconds{100};

  /// No pause but that of `max_restarts` is longer.
  caf::timespan longest_pause = std::chrono::seconds{10};

  /// So many restarts there may be within a `period`; then there is none before
  /// the first of them is a period ago.
  std::uint32_t max_restarts = 10;

  caf::timespan period = std::chrono::minutes{1};
};

/// Spawns an actor that stands for a store, and starts that store again when it
/// has died.
///
/// Every request has one answer: that of the store, or `unavailable` if the
/// store dies before it has answered or is down when the request comes. What
/// was asked may have happened then. Nothing is queued while the store is down.
///
/// A request costs one hop on the way to the store and one on the way back.
/// There are no time-outs: a store that lives and does not answer keeps whoever
/// asked waiting for as long as they choose to.
///
/// @param    factory starts the store, now and each time it has died.
/// @errors   throws what `factory` throws the first time, and
/// `invalid_argument`
///           for options that make no sense. When it throws later, that counts
///           as a death.
/// @threads  any.
/// @lifetime the supervisor ends with its last handle or when told to exit, and
///           the store with it: told to exit it ends after the store. A
///           supervisor that waits for a restart lives on until the pause is
///           over. `factory` is kept as long as it lives.
///           The end of the actor system waits for both as for every other
///           actor, but for no pause: no handle may outlive the system, and
///           none may be held, nor registered, while
///           `await_all_actors_done` is called.
/// @design   README §5.15 "Records and states".
[[nodiscard]] managed_store supervise_store(caf::actor_system& system,
                                            store_factory factory,
                                            restart_options options = {});

} // namespace tertulia
