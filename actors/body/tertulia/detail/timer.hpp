// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/detail/host_actor.hpp>

#include <caf/actor_addr.hpp>
#include <caf/actor_clock.hpp>
#include <caf/actor_system.hpp>
#include <caf/duration.hpp>
#include <caf/timespan.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

// Time in three layers. CAF's clock sends messages that cannot be cancelled;
// the timer of a runtime turns them into ticks that can be; the time limits of
// a connection share a few of these ticks.

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
/// and keep their receiver in memory until they fire; this one holds its
/// clients weakly. A hidden actor receives the messages of CAF's clock, and
/// sends the ticks.
///
/// @threads all members.
class timer {
public:
  explicit timer(caf::actor_system& system);

  timer(const timer&) = delete;
  timer& operator=(const timer&) = delete;

  ~timer();

  /// Ends the actor: no tick is sent any longer. Idempotent.
  void stop();

  /// Requests `(tick_atom, id)` for a client once the delay has passed. An
  /// earlier request for this id is replaced.
  void arm(caf::actor_addr client, std::uint64_t id, caf::timespan delay);

  /// Ends a request. Not an error if it has fired: the tick may still come.
  void disarm(caf::actor_addr client, std::uint64_t id);

private:
  class queue;

  std::shared_ptr<queue> queue_;
};

/// Times at which a connection does something without a message of another
/// actor: its deadline, the time-outs of its waits, and the delays of its body.
/// Each is a tick of the timer with a number.
///
/// @threads only on the actor of the connection.
class time_limits {
public:
  using time_point = caf::actor_clock::time_point;

  static constexpr std::uint64_t deadline_tick = 0;
  static constexpr std::uint64_t expiry_tick = 1;
  static constexpr std::uint64_t credit_tick = 2;
  static constexpr std::uint64_t last_named_tick = credit_tick;

  explicit time_limits(host_actor::pointer self) noexcept : self_(self) {}

  /// @pre called before any other function.
  void start(timer& x) noexcept {
    timer_ = &x;
  }

  /// Requests a tick with a number after a delay.
  void arm(std::uint64_t number, caf::timespan delay);
  void disarm(std::uint64_t number);

  void set_deadline(caf::timespan delay);

  /// Returns the time of the deadline; empty for none.
  [[nodiscard]] const std::optional<time_point>& deadline() const noexcept {
    return deadline_;
  }

  /// Requests an expiry tick for a time-out.
  /// @returns when the time-out is due.
  time_point expire_after(caf::timespan within);

  /// Requests an expiry tick at `due` or before it.
  void expire_at(time_point due);

  /// Handles an expiry tick.
  /// @returns the current time, up to which time-outs have expired; nothing for
  ///          a tick that was sent before it was disarmed.
  [[nodiscard]] std::optional<time_point> take_expiry();

  /// Disarms all ticks but the delays: the actor ends.
  void stop();

private:
  host_actor::pointer self_;
  timer* timer_ = nullptr;
  std::optional<time_point> deadline_;
  /// Time of the pending expiry tick.
  time_point expiry_ = time_point::max();
};

} // namespace tertulia::detail
