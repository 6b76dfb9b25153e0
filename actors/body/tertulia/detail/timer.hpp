// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/protocol.hpp>

#include <caf/actor_clock.hpp>
#include <caf/actor_system.hpp>
#include <caf/duration.hpp>
#include <caf/timespan.hpp>

#include <algorithm>
#include <cstdint>

namespace tertulia::detail {

/// Returns the time `by` after `now`, or the last possible time.
inline caf::actor_clock::time_point later(caf::actor_clock::time_point now,
                                          caf::timespan by) noexcept {
  constexpr auto last = caf::actor_clock::time_point::max();
  return by < last - now ? now + by : last;
}

/// Returns a time-out that CAF can add to its clock: CAF does not check that
/// addition for overflow.
inline caf::duration for_request(caf::timespan within) noexcept {
  return caf::duration{std::min(within, caf::timespan::max() / 2)};
}

/// Timer that can be disarmed. CAF's own delayed messages cannot be cancelled
/// and keep their receiver in memory until they fire; this actor holds its
/// clients weakly.
///
/// The sender of `arm` receives `(tick_atom, id)` once the delay has passed.
using timer_actor
  = protocol<caf::result<void>(arm_atom, std::uint64_t, caf::timespan),
             caf::result<void>(disarm_atom,
                               std::uint64_t),   // not an error if it has fired
             caf::result<void>(caf::tick_atom)>; // private: CAF's clock

timer_actor spawn_timer(caf::actor_system& system);

} // namespace tertulia::detail
