// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/detail/timer.hpp>

#include <caf/actor_addr.hpp>
#include <caf/actor_cast.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <map>
#include <utility>
#include <vector>

namespace tertulia::detail {

namespace {

using time_point = caf::actor_clock::time_point;

class timer_state {
public:
  static inline const char* name = "tertulia.timer";

  explicit timer_state(timer_actor::pointer self) : self_(self) {}

  timer_actor::behavior_type make_behavior() {
    return {
      [this](arm_atom, std::uint64_t id, caf::timespan delay) {
        arm(client{caf::actor_cast<caf::actor_addr>(self_->current_sender()),
                   id},
            later(self_->clock().now(), delay));
      },
      [this](disarm_atom, std::uint64_t id) {
        disarm(client{caf::actor_cast<caf::actor_addr>(self_->current_sender()),
                      id});
      },
      [this](caf::tick_atom) { fire(); },
    };
  }

private:
  using client = std::pair<caf::actor_addr, std::uint64_t>;

  void arm(const client& who, time_point due) {
    // The client may arm the id again while its earlier tick is pending: the
    // new time replaces it.
    disarm(who);
    due_.emplace(who, queue_.emplace(due, who));
    tick_at(due);
  }

  /// Schedules a tick at `due`, unless one is scheduled at that time or
  /// before. The earlier tick then schedules the next one.
  void tick_at(time_point due) {
    if (!ticks_.empty() && ticks_.back() <= due)
      return;
    ticks_.push_back(due);
    self_->scheduled_send(self_, due, caf::tick_atom_v);
  }

  void disarm(const client& who) {
    if (auto found = due_.find(who); found != due_.end()) {
      queue_.erase(found->second);
      due_.erase(found);
    }
  }

  void fire() {
    const auto now = self_->clock().now();
    while (!ticks_.empty() && ticks_.back() <= now)
      ticks_.pop_back();
    while (!queue_.empty() && queue_.begin()->first <= now) {
      const auto who = queue_.begin()->second;
      disarm(who);
      if (auto receiver = caf::actor_cast<caf::actor>(who.first))
        self_->anon_send(receiver, caf::tick_atom_v, who.second);
    }
    if (!queue_.empty())
      tick_at(queue_.begin()->first);
  }

  using queue = std::multimap<time_point, client>;

  timer_actor::pointer self_;
  queue queue_;
  std::map<client, queue::iterator> due_;
  // Times at which CAF's clock will send a tick, earliest last. The clock
  // cannot cancel a tick, so none is requested twice.
  std::vector<time_point> ticks_;
};

} // namespace

timer_actor spawn_timer(caf::actor_system& system) {
  return system.spawn<caf::hidden>(
    [](timer_actor::stateful_pointer<timer_state> self) {
      return self->state.make_behavior();
    });
}

// -- time limits --------------------------------------------------------------

void time_limits::arm(std::uint64_t number, caf::timespan delay) {
  self_->send(timer_, arm_atom_v, number, delay);
}

void time_limits::disarm(std::uint64_t number) {
  self_->send(timer_, disarm_atom_v, number);
}

void time_limits::set_deadline(caf::timespan delay) {
  deadline_ = later(self_->clock().now(), delay);
  arm(deadline_tick, delay);
}

time_point time_limits::expire_after(caf::timespan within) {
  const auto due = later(self_->clock().now(), within);
  expire_at(due);
  return due;
}

void time_limits::expire_at(time_point due) {
  // One tick is pending, for the earliest time-out. If its wait ends in time,
  // the tick stays and serves the next time-out, so most waits cost the timer
  // nothing.
  if (due >= expiry_)
    return;
  if (expiry_ != time_point::max())
    disarm(expiry_tick);
  expiry_ = due;
  arm(expiry_tick, due - self_->clock().now());
}

std::optional<time_point> time_limits::take_expiry() {
  const auto now = self_->clock().now();
  if (now < expiry_)
    return std::nullopt;
  expiry_ = time_point::max();
  return now;
}

void time_limits::stop() {
  if (deadline_)
    disarm(deadline_tick);
  if (expiry_ != time_point::max())
    disarm(expiry_tick);
}

} // namespace tertulia::detail
