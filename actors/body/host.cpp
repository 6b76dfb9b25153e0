// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/detail/host.hpp>
#include <tertulia/detail/timer.hpp>

#include <caf/actor_cast.hpp>

#include <algorithm>
#include <utility>

namespace tertulia::detail {

host::host(host_actor::pointer self)
  : root(*this, scheduled_), limits(self), self_(self) {}

host::~host() = default;

std::uint64_t host::register_wait(wait& x) {
  wait_entries_.push_back(wait_entry{++last_id_, &x, time_point::max()});
  return last_id_;
}

std::uint64_t host::register_wait(wait& x, caf::timespan within, bool vital) {
  const auto due = limits.expire_after(within);
  wait_entries_.push_back(wait_entry{++last_id_, &x, due, vital});
  return last_id_;
}

wait* host::take_wait(std::uint64_t id) noexcept {
  const auto found = std::find_if(wait_entries_.begin(), wait_entries_.end(),
                                  [=](const auto& x) { return x.id == id; });
  if (found == wait_entries_.end())
    return nullptr;
  auto* result = found->waiter;
  wait_entries_.erase(found);
  return result;
}

void host::watch_peer(std::uint64_t id, const caf::actor_addr& other) {
  // Answered requests are removed here: only few are pending at a time.
  std::erase_if(monitored_requests_, [this](const auto& x) {
    const auto answered
      = std::none_of(wait_entries_.begin(), wait_entries_.end(),
                     [&](const auto& y) { return y.id == x.second; });
    if (answered)
      self_->demonitor(x.first);
    return answered;
  });
  monitored_requests_.emplace_back(other, id);
  self_->monitor(caf::actor_cast<caf::strong_actor_ptr>(other));
}

void host::expire_waits() {
  const auto now = limits.take_expiry();
  if (!now)
    return;
  std::vector<wait*> late;
  auto lost = false;
  auto next = time_point::max();
  for (const auto& x : wait_entries_)
    if (x.due <= *now) {
      late.push_back(x.waiter);
      lost = lost || x.vital;
    } else {
      next = std::min(next, x.due);
    }
  limits.expire_at(next);
  for (auto* x : late)
    x->abort(fail(errc::deadline_exceeded, "no answer came in time"));
  if (lost)
    root.cancel(fail(errc::deadline_exceeded,
                     "the session did not answer in time: it is "
                     "unknown what its store has saved"));
}

void host::abort_waits_for(const caf::actor_addr& other,
                           const caf::error& reason) {
  for (const auto& [address, id] : monitored_requests_)
    if (address == other)
      if (auto* waiting = take_wait(id))
        waiting->abort(reason);
  std::erase_if(monitored_requests_,
                [&](const auto& x) { return x.first == other; });
}

void host::forget_waits() {
  limits.stop();
  for (const auto& [other, id] : monitored_requests_)
    self_->demonitor(other);
}

} // namespace tertulia::detail
