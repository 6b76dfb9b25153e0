// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/descriptor.hpp>
#include <tertulia/detail/backoff.hpp>
#include <tertulia/detail/blocking_caller.hpp>
#include <tertulia/detail/remote_desk.hpp>
#include <tertulia/detail/timer.hpp>
#include <tertulia/remote_actor.hpp>
#include <tertulia/status.hpp>
#include <tertulia/store/runs.hpp>

#include <caf/actor_cast.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/send.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_response_promise.hpp>

#include <chrono>
#include <optional>
#include <thread>
#include <utility>

#include <fmt/format.h>

namespace tertulia::detail {

namespace {

using clock = std::chrono::steady_clock;
using time_point = clock::time_point;

/// Passes one request on; see `remote_desk::spawn_relay`.
class relay_state {
public:
  static inline const char* name = "tertulia.relay";

  explicit relay_state(caf::event_based_actor* self) : self_(self) {}

  ~relay_state() {
    if (guide_)
      caf::anon_send(guide_, caf::close_atom_v);
  }

  caf::behavior make_behavior(std::shared_ptr<remote_desk> to) {
    self_->set_down_handler([this](const caf::down_msg& x) {
      if (x.source == client_)
        finish();
      else
        refuse(fail(errc::unavailable, fmt::format("the node was lost: {}",
                                                   caf::to_string(x.reason))));
    });
    return {
      [this, to = std::move(to)](open_request& x) -> caf::result<open_result> {
        client_ = caf::actor_cast<caf::actor_addr>(self_->current_sender());
        self_->monitor(client_);
        answer_ = self_->make_response_promise<open_result>();
        auto answer = answer_;
        try {
          x.init = x.init.sealed();
        } catch (...) {
          refuse(current_exception_to_error());
          return answer;
        }
        if (to->is_lost())
          look_for_desk(*to, std::move(x));
        else
          pass_on(to->desk(), std::move(x));
        return answer;
      }};
  }

private:
  void look_for_desk(remote_desk& to, open_request x) {
    guide_ = to.spawn_guide();
    self_
      ->request(guide_, caf::infinite, caf::connect_atom_v,
                fail(errc::unavailable, "the node was lost"))
      .then(
        [this, x = std::move(x)](const caf::actor& found) mutable {
          pass_on(caf::actor_cast<front_desk_actor>(found), std::move(x));
        },
        [this](caf::error& reason) { refuse(std::move(reason)); });
  }

  void pass_on(const front_desk_actor& desk, open_request x) {
    // CAF does not answer a request to a node that is lost.
    desk_ = desk.address();
    self_->monitor(desk);
    self_->request(desk, caf::infinite, std::move(x))
      .then(
        [this](open_result& opened) {
          answer_.deliver(std::move(opened));
          finish();
        },
        [this](caf::error& reason) { refuse(std::move(reason)); });
  }

  void refuse(caf::error reason) {
    answer_.deliver(std::move(reason));
    finish();
  }

  /// Both outlive this actor and must not keep its monitors.
  void finish() {
    self_->demonitor(client_);
    if (desk_)
      self_->demonitor(desk_);
    self_->quit();
  }

  caf::event_based_actor* self_;
  caf::actor_addr client_;
  caf::actor_addr desk_;
  caf::typed_response_promise<open_result> answer_;
  caf::actor guide_; ///< null if the desk was not lost
};

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
  for (backoff pauses{policy_, clock::now()};;)
    try {
      return reconnect();
    } catch (const status_error& x) {
      const auto pause = return_path::may_pass(to_error(x))
                           ? pauses.next(clock::now())
                           : std::nullopt;
      if (!pause)
        throw;
      std::this_thread::sleep_for(*pause);
    }
}

front_desk_actor remote_desk::reconnect() {
  if (is_lost()) {
    check_may_block(system_);
    const auto before = attempts_.load();
    const std::lock_guard one_at_a_time{connecting_};
    // A thread that has waited for the attempt of another one does not begin a
    // new attempt.
    if (is_lost() && attempts_ != before && failure_)
      raise(failure_);
    if (is_lost())
      try_to_connect(later(clock::now(), within_));
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
  return caf::actor_cast<front_desk_actor>(system.spawn<caf::hidden>(
    [](caf::stateful_actor<relay_state>* self, std::shared_ptr<remote_desk> to)
      -> caf::behavior { return self->state.make_behavior(std::move(to)); },
    std::move(to)));
}

} // namespace tertulia::detail
