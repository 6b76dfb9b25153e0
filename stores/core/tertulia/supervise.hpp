// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <caf/actor.hpp>
#include <caf/actor_cast.hpp>
#include <caf/actor_control_block.hpp>
#include <caf/fwd.hpp>
#include <caf/timespan.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <type_traits>
#include <utility>

namespace tertulia {

/// Restart policy for an actor that has died.
///
/// The first restart is immediate. Before each further restart there is a
/// pause, which doubles every time. An actor that has lived for a whole
/// `period` is trusted again.
///
/// @threads a value.
struct restart_options {
  restart_options() = default;

  /// Pause between the second death of an actor and its restart.
  caf::timespan first_pause = std::chrono::milliseconds{100};

  /// Longest pause, except for that of `max_restarts`.
  caf::timespan longest_pause = std::chrono::seconds{10};

  /// Maximum number of restarts within a `period`. After that, the next restart
  /// waits until the first of them is a period ago.
  std::uint32_t max_restarts = 10;

  caf::timespan period = std::chrono::minutes{1};
};

namespace detail {

using actor_factory = std::function<caf::strong_actor_ptr(caf::actor_system&)>;

/// Supervises an actor of any type; see `supervise`.
caf::actor supervise_any(caf::actor_system& system, actor_factory factory,
                         restart_options options);

} // namespace detail

/// Spawns an actor that supervises another one: it delegates all messages to it
/// and restarts it after it has ended, for whatever reason.
///
/// ```
/// auto sensor = tertulia::supervise(
///   system, [](caf::actor_system& s) { return s.spawn(read_sensor); });
/// ```
///
/// The supervised actor answers the sender of a request directly. CAF answers
/// for one that dies with requests in its mailbox, and the supervisor while it
/// is down: `unavailable`. Messages are not kept while it is down. CAF does not
/// answer a request to an actor of another node that is lost: use a time-out.
///
/// @param    factory returns the handle of a new actor, now and after each
///           death; called from any thread, one call at a time. The handle of
///           the supervisor has the same type.
/// @errors   throws the exceptions of the first call of `factory`, and
///           `invalid_argument` for inconsistent options. An exception of a
///           later call counts as a death.
/// @threads  any.
/// @lifetime the supervisor ends with its last handle or on an exit message,
///           and the actor with it. The shutdown of the actor system waits for
///           both, but not for a pause: handles must not outlive the system.
/// @design   docs/stores.md#supervision.
template <class Factory>
[[nodiscard]] auto supervise(caf::actor_system& system, Factory factory,
                             restart_options options = {}) {
  static_assert(
    requires { caf::actor_cast<caf::strong_actor_ptr>(factory(system)); },
    "the factory takes a caf::actor_system& and returns the handle of an "
    "actor");
  using handle = std::invoke_result_t<Factory&, caf::actor_system&>;
  return caf::actor_cast<handle>(detail::supervise_any(
    system,
    [factory = std::move(factory)](caf::actor_system& in) mutable {
      return caf::actor_cast<caf::strong_actor_ptr>(factory(in));
    },
    options));
}

} // namespace tertulia
