// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/action.hpp>
#include <tertulia/detail/blocking_caller.hpp>
#include <tertulia/detail/remote_desk.hpp>
#include <tertulia/detail/timer.hpp>
#include <tertulia/remote_actor.hpp>
#include <tertulia/status.hpp>

#include <caf/actor_cast.hpp>
#include <caf/event_based_actor.hpp>

#include <chrono>
#include <utility>

namespace tertulia::detail {

namespace {

using clock = std::chrono::steady_clock;
using time_point = clock::time_point;

/// Passes one request on; see `remote_desk::spawn_relay`.
caf::behavior relay(caf::event_based_actor* self,
                    const std::shared_ptr<remote_desk>& to) {
  return {[self, to](open_request& x) -> caf::result<open_result> {
    const auto promise
      = std::make_shared<caf::typed_response_promise<open_result>>(
        self->make_response_promise<open_result>());
    const auto refuse = [self, promise](caf::error reason) {
      promise->deliver(std::move(reason));
      self->quit();
    };
    try {
      const auto desk = to->get();
      // CAF does not answer a request to a node that is lost.
      self->set_down_handler([refuse](const caf::down_msg& x) {
        refuse(fail(errc::unavailable,
                    "the node was lost: " + caf::to_string(x.reason)));
      });
      self->monitor(desk);
      x.init = x.init.sealed();
      self->request(desk, caf::infinite, std::move(x))
        .then(
          [self, promise](open_result& opened) {
            promise->deliver(std::move(opened));
            self->quit();
          },
          [refuse](caf::error& reason) { refuse(std::move(reason)); });
    } catch (...) {
      refuse(current_exception_to_error());
    }
    return *promise;
  }};
}

} // namespace

remote_desk::remote_desk(caf::actor_system& system,
                         std::vector<endpoint> endpoints,
                         reconnect_policy policy, caf::timespan within)
  : system_(system), endpoints_(std::move(endpoints)), policy_(policy),
    within_(within) {
  if (endpoints_.empty())
    throw status_error{errc::invalid_argument, "no address was given"};
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
  for (std::size_t i = 0;; ++i) {
    // An address that does not answer leaves time for those after it.
    const auto now = clock::now();
    const auto left = endpoints_.size() - i;
    const auto share
      = left == 1 ? until : now + (until - now) / static_cast<int>(left);
    try {
      auto found
        = find_remote(system_, endpoints_[i].host, endpoints_[i].port, share,
                      system_.message_types<front_desk_actor>(), "runtime");
      const std::lock_guard guard{mutex_};
      desk_ = caf::actor_cast<front_desk_actor>(found);
      return;
    } catch (const status_error&) {
      if (left == 1)
        throw;
    }
  }
}

front_desk_actor remote_desk::desk() const {
  const std::lock_guard guard{mutex_};
  return desk_;
}

front_desk_actor remote_desk::spawn_relay(std::shared_ptr<remote_desk> to) {
  auto& system = to->system_;
  auto result = to->is_lost()
                  ? system.spawn<caf::detached>(relay, std::move(to))
                  : system.spawn(relay, std::move(to));
  return caf::actor_cast<front_desk_actor>(result);
}

} // namespace tertulia::detail
