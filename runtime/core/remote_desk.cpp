// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/action.hpp>
#include <tertulia/config.hpp>
#include <tertulia/detail/blocking_caller.hpp>
#include <tertulia/detail/node_transport.hpp>
#include <tertulia/detail/remote_desk.hpp>
#include <tertulia/detail/timer.hpp>
#include <tertulia/status.hpp>

#include <caf/actor_cast.hpp>
#include <caf/io/middleman.hpp>
#include <caf/scoped_actor.hpp>

#include <algorithm>
#include <chrono>
#include <set>
#include <utility>

namespace tertulia::detail {

namespace {

using clock = std::chrono::steady_clock;
using time_point = clock::time_point;

/// Returns the published front desk of a node. CAF's `remote_actor` does this
/// as well, but waits forever for a frozen host.
front_desk_actor find_desk(caf::actor_system& system, const std::string& host,
                           std::uint16_t port, time_point until) {
  check_messages_of(system);
  check_may_block(system);
  const auto where = host + ':' + std::to_string(port);
  front_desk_actor result;
  caf::error failure;
  caf::scoped_actor self{system};
  const auto wait_for_desk = [&](auto pending) {
    pending.receive(
      [&](const caf::node_id&, const caf::strong_actor_ptr& found,
          const std::set<std::string>& speaks) {
        const auto ours = system.message_types<front_desk_actor>();
        if (found
            && std::includes(speaks.begin(), speaks.end(), ours.begin(),
                             ours.end()))
          result = caf::actor_cast<front_desk_actor>(found);
        else
          failure = fail(errc::unavailable, "there is no runtime at " + where);
      },
      [&](const caf::error& reason) {
        failure = code_of(reason) == errc::deadline_exceeded
                    ? fail(errc::deadline_exceeded, "no answer from " + where)
                    : fail(errc::unavailable, "cannot connect to " + where
                                                + ": " + system.render(reason));
      });
  };
  const auto patience = [until] {
    return for_request(std::max(until - clock::now(), caf::timespan{1}));
  };
  if (const auto* encrypted = transport_of(system)) {
    auto line = encrypted->connect(system, host, port, until);
    wait_for_desk(self->request(node_broker(system), patience(),
                                caf::connect_atom::value, std::move(line),
                                port));
  } else {
    wait_for_desk(self->request(system.middleman().actor_handle(), patience(),
                                caf::connect_atom::value, host, port));
  }
  if (failure)
    raise(failure);
  return result;
}

} // namespace

remote_desk::remote_desk(caf::actor_system& system, std::string host,
                         std::uint16_t port, caf::timespan within)
  : system_(system), host_(std::move(host)), port_(port), within_(within) {
  connect(later(clock::now(), within_));
}

front_desk_actor remote_desk::get() {
  if (is_lost()) {
    check_may_block(system_);
    const auto before = attempts_.load();
    const std::lock_guard one_at_a_time{connecting_};
    // A thread that has waited for the attempt of another one does not begin a
    // new attempt.
    if (is_lost() && attempts_ != before && failure_)
      raise(failure_);
    // CAF may return the lost actor once more if it has not noticed the loss
    // yet.
    const auto until = later(clock::now(), within_);
    for (auto left = 2; is_lost() && left > 0; --left)
      try_to_connect(until);
  }
  return desk();
}

bool remote_desk::is_lost() const {
  // CAF terminates the proxies of a node's actors when the connection is lost.
  return caf::actor_cast<caf::abstract_actor*>(desk())->getf(
    caf::abstract_actor::is_terminated_flag);
}

void remote_desk::try_to_connect(time_point until) {
  failure_ = caf::none;
  try {
    connect(until);
  } catch (const status_error& x) {
    failure_ = to_error(x);
  }
  ++attempts_;
  if (failure_)
    raise(failure_);
}

void remote_desk::connect(time_point until) {
  auto found = find_desk(system_, host_, port_, until);
  const std::lock_guard guard{mutex_};
  desk_ = std::move(found);
}

front_desk_actor remote_desk::desk() const {
  const std::lock_guard guard{mutex_};
  return desk_;
}

} // namespace tertulia::detail
