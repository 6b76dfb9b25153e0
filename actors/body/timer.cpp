// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/detail/timer.hpp>

#include <caf/actor_cast.hpp>
#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/send.hpp>

#include <map>
#include <mutex>
#include <utility>
#include <vector>

namespace tertulia::detail {

using time_point = caf::actor_clock::time_point;

/// Ticks that are due later, by client and by time.
///
/// @threads all members.
class timer::queue {
public:
  using client = std::pair<caf::actor_addr, std::uint64_t>;

  explicit queue(caf::actor_clock& clock) : clock_(clock) {}

  /// Begins to schedule ticks; once, before the first request.
  void start(caf::actor x) {
    const std::lock_guard guard{mutex_};
    receiver_ = std::move(x);
  }

  /// Ends the actor, which sends no further ticks.
  void stop() {
    const std::lock_guard guard{mutex_};
    if (const auto receiver = std::exchange(receiver_, nullptr))
      caf::anon_send_exit(receiver, caf::exit_reason::user_shutdown);
  }

  void arm(client who, caf::timespan delay) {
    const auto due = later(clock_.now(), delay);
    const std::lock_guard guard{mutex_};
    // The client may arm the id again while its earlier tick is pending: the
    // new time replaces it.
    remove(who);
    const auto place = queue_.emplace(due, who);
    due_.emplace(std::move(who), place);
    tick_at(due);
  }

  void disarm(const client& who) {
    const std::lock_guard guard{mutex_};
    remove(who);
  }

  /// Returns the clients whose tick is due, and schedules the next one.
  std::vector<client> take_due() {
    const auto now = clock_.now();
    std::vector<client> result;
    const std::lock_guard guard{mutex_};
    while (!ticks_.empty() && ticks_.back() <= now)
      ticks_.pop_back();
    while (!queue_.empty() && queue_.begin()->first <= now) {
      result.push_back(queue_.begin()->second);
      remove(result.back());
    }
    if (!queue_.empty())
      tick_at(queue_.begin()->first);
    return result;
  }

private:
  using by_time = std::multimap<time_point, client>;

  /// Schedules a tick of the actor at `due`, unless one is scheduled at that
  /// time or before. The earlier tick then schedules the next one.
  void tick_at(time_point due) {
    if (!receiver_ || (!ticks_.empty() && ticks_.back() <= due))
      return;
    ticks_.push_back(due);
    clock_.schedule_message(
      due, caf::actor_cast<caf::strong_actor_ptr>(receiver_),
      caf::make_mailbox_element(nullptr, caf::make_message_id(), {},
                                caf::tick_atom_v));
  }

  void remove(const client& who) {
    if (const auto found = due_.find(who); found != due_.end()) {
      queue_.erase(found->second);
      due_.erase(found);
    }
  }

  caf::actor_clock& clock_;
  std::mutex mutex_; // guards all members below
  caf::actor receiver_;
  by_time queue_;
  std::map<client, by_time::iterator> due_;
  // Times at which CAF's clock will send a tick, earliest last. The clock
  // cannot cancel a tick, so none is requested twice.
  std::vector<time_point> ticks_;
};

timer::timer(caf::actor_system& system)
  : queue_(std::make_shared<queue>(system.clock())) {
  queue_->start(system.spawn<caf::hidden>(
    [](caf::event_based_actor* self,
       const std::shared_ptr<queue>& ticks) -> caf::behavior {
      return {[self, ticks](caf::tick_atom) {
        for (const auto& [who, id] : ticks->take_due())
          if (const auto receiver = caf::actor_cast<caf::actor>(who))
            self->anon_send(receiver, caf::tick_atom_v, id);
      }};
    },
    queue_));
}

timer::~timer() {
  stop();
}

void timer::stop() {
  queue_->stop();
}

void timer::arm(caf::actor_addr client, std::uint64_t id, caf::timespan delay) {
  queue_->arm({std::move(client), id}, delay);
}

void timer::disarm(caf::actor_addr client, std::uint64_t id) {
  queue_->disarm({std::move(client), id});
}

// -- time limits --------------------------------------------------------------

void time_limits::arm(std::uint64_t number, caf::timespan delay) {
  timer_->arm(self_->address(), number, delay);
}

void time_limits::disarm(std::uint64_t number) {
  timer_->disarm(self_->address(), number);
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
