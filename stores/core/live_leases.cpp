// SPDX-License-Identifier: BSD-3-Clause

#include "live_leases.hpp"

#include <tertulia/status.hpp>
#include <tertulia/store_rules.hpp>

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace tertulia {

live_leases::~live_leases() {
  for (auto& [session, lease] : leases_)
    for (auto& x : lease.next)
      x.answer.deliver(fail(errc::unavailable, "the store was killed"));
}

void live_leases::acquire(acquire_lease_request x, promise to) {
  try {
    rules::check(x);
    const auto [place, is_free] = leases_.try_emplace(x.target);
    auto& lease = place->second;
    if (is_free) {
      lease.holder = x.holder.address();
      lease.owner = x.owner;
      watch(x.holder, place);
    } else if (lease.holder != x.holder.address()) {
      if (x.rule == if_live::refuse)
        rules::reject_held(x.target, lease.owner);
      return wait(place, std::move(x), std::move(to));
    }
    decisions_.grant(std::move(x), std::move(to));
  } catch (...) {
    to.deliver(current_exception_to_error());
  }
}

void live_leases::wait(lease_map::iterator place, acquire_lease_request x,
                       promise to) {
  auto& next = place->second.next;
  if (x.rule == if_live::queue && next.size() >= max_queued_openings)
    return static_cast<void>(
      to.deliver(fail(errc::resource_exhausted,
                      fmt::format("{} invocations wait for the session already",
                                  next.size()))));
  watch(x.holder, place);
  if (x.rule == if_live::queue) {
    next.push_back({std::move(x), std::move(to)});
    return;
  }
  take_over(place);
  next.insert(next.begin(), {std::move(x), std::move(to)});
}

void live_leases::take_over(lease_map::iterator place) {
  auto& lease = place->second;
  auto& next = lease.next;
  if (!next.empty() && next.front().request.rule == if_live::take_over) {
    next.front().answer.deliver(
      fail(errc::aborted, "a later invocation took over the session"));
    forget(next.front().request.holder.address(), place);
    next.erase(next.begin());
  } else if (const auto holder = caf::actor_cast<lease_holder>(lease.holder)) {
    // A holder that confirms will release the lease. One that does not is
    // frozen, or its node is lost.
    const auto question = self_->request(
      holder, max_cancel_wait, cancel_atom_v,
      fail(errc::cancelled, "another invocation took over the session"));
    // CAF keeps the actor for as long as the time limit runs.
    const auto end_limit = [this, id = question.id()] {
      self_->clock().cancel_request_timeout(self_, id);
    };
    question.then(end_limit, [this, end_limit, session = place->first,
                              lost = lease.holder](const caf::error&) {
      end_limit();
      release(lost, session);
    });
  }
}

bool live_leases::release(const caf::actor_addr& holder,
                          const session_ref& session) {
  const auto [first, last] = places_.equal_range(holder);
  std::vector<lease_map::iterator> ended;
  for (auto i = first; i != last; ++i)
    if (session.agent.empty() || i->second->first == session)
      ended.push_back(i->second);
  for (const auto place : ended)
    release(place, holder);
  return !ended.empty();
}

void live_leases::release(lease_map::iterator place,
                          const caf::actor_addr& holder) {
  forget(holder, place);
  auto& lease = place->second;
  if (lease.holder != holder) {
    const auto waits
      = std::find_if(lease.next.begin(), lease.next.end(), [&](const auto& x) {
          return x.request.holder.address() == holder;
        });
    if (waits != lease.next.end())
      lease.next.erase(waits);
    return;
  }
  decisions_.end(release_lease_request{
    caf::actor_cast<lease_holder>(lease.holder), place->first});
  if (lease.next.empty()) {
    leases_.erase(place);
    return;
  }
  auto next = std::move(lease.next.front());
  lease.next.erase(lease.next.begin());
  lease.holder = next.request.holder.address();
  lease.owner = next.request.owner;
  decisions_.grant(std::move(next.request), std::move(next.answer));
}

void live_leases::expect_free(const session_ref& session) const {
  if (const auto i = leases_.find(session); i != leases_.end())
    rules::reject_held(session, i->second.owner);
}

void live_leases::watch(const lease_holder& holder, lease_map::iterator place) {
  // A holder that has ended already is released at once: CAF sends its down
  // message then.
  if (!places_.contains(holder.address()))
    self_->monitor(holder);
  places_.emplace(holder.address(), place);
}

void live_leases::forget(const caf::actor_addr& holder,
                         lease_map::iterator place) {
  const auto [first, last] = places_.equal_range(holder);
  places_.erase(
    std::find_if(first, last, [&](auto& x) { return x.second == place; }));
  if (!places_.contains(holder))
    self_->demonitor(holder);
}

} // namespace tertulia
