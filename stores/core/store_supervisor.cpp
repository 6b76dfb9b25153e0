// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/status.hpp>
#include <tertulia/store_handlers.hpp>
#include <tertulia/store_supervisor.hpp>

#include <caf/actor_clock.hpp>
#include <caf/actor_system.hpp>
#include <caf/message_view.hpp>
#include <caf/optional.hpp>
#include <caf/send.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <algorithm>
#include <deque>
#include <optional>
#include <type_traits>
#include <utility>

#include "live_leases.hpp"

namespace tertulia {

namespace {

class supervisor_state : private live_leases::listener {
public:
  static inline const char* name = "tertulia.store_supervisor";

  explicit supervisor_state(supervisor_actor::pointer self)
    : self_(self), leases_(self, *this) {}

  supervisor_actor::behavior_type make_behavior(store_factory factory,
                                                restart_options options,
                                                managed_store store) {
    factory_ = std::move(factory);
    options_ = options;
    self_->set_down_handler([this](caf::down_msg& x) {
      if (!store_ || x.source != store_.address())
        leases_.release(x.source);
      else if (stopping_)
        self_->quit(*stopping_);
      else
        on_store_down(caf::to_string(x.reason));
    });
    self_->set_exit_handler([this](caf::exit_msg& x) {
      stopping_ = x.reason;
      down_reason_ = "the store is being stopped";
      // The store ends first: a client that waits for the end of the supervisor
      // may need the files that the store has open.
      if (store_)
        self_->send_exit(store_, x.reason);
      else
        self_->quit(x.reason);
    });
    // CAF 0.17 sends a request with a value that cannot be encoded as an empty
    // message.
    self_->set_default_handler(
      [](caf::scheduled_actor*,
         caf::message_view& x) -> caf::result<caf::message> {
        if (x.content().size() > 0)
          return caf::sec::unexpected_message;
        return fail(errc::invalid_argument,
                    "a value of the request has no encoding");
      });
    adopt(std::move(store));
    return handle_verbs<supervisor_actor>(
      [this]<class Verb>(Verb x) -> caf::result<store_reply_t<Verb>> {
        constexpr auto needs_store
          = !std::is_same_v<Verb, release_lease_request>;
        if (needs_store && (!store_ || stopping_))
          return fail(errc::unavailable, down_reason_);
        try {
          return answer(x);
        } catch (...) {
          return current_exception_to_error();
        }
      },
      [this](caf::tick_atom) { restart(); });
  }

private:
  using time_point = caf::actor_clock::time_point;

  // -- requests ---------------------------------------------------------------

  template <class Verb>
  caf::result<store_reply_t<Verb>> answer(Verb& x) {
    if (const auto session = session_without_fence(x))
      leases_.expect_free(*session);
    return self_->delegate(store_, std::move(x));
  }

  caf::result<lease_grant> answer(acquire_lease_request& x) {
    auto promise = self_->make_response_promise<lease_grant>();
    leases_.acquire(std::move(x), promise);
    return promise;
  }

  caf::result<bool> answer(release_lease_request& x) {
    return leases_.release(x.holder.address(), x.target);
  }

  // -- leases -----------------------------------------------------------------

  void grant(acquire_lease_request x, live_leases::promise to) override {
    if (store_ && !stopping_)
      to.delegate(store_, std::move(x));
    else
      to.deliver(fail(errc::unavailable, down_reason_));
  }

  void end(release_lease_request x) override {
    if (store_ && !stopping_)
      caf::anon_send(store_, std::move(x)); // nobody waits for the reply
  }

  /// Returns the session that a request changes without a lease, though it
  /// needs one.
  template <class Verb>
  static std::optional<session_ref> session_without_fence(const Verb& x) {
    if constexpr (std::is_same_v<Verb, copy_session_request>)
      return x.to;
    if constexpr (std::is_same_v<Verb, save_session_request>)
      if (x.fence == 0)
        return x.target;
    if constexpr (std::is_same_v<Verb, restore_snapshot_request>)
      if (x.fence == 0)
        return session_ref{x.target.agent, x.target.session};
    if constexpr (std::is_same_v<Verb, save_snapshot_request>)
      if (x.fence == 0 && x.where != append_rule::anywhere)
        return session_ref{x.record.agent, x.record.session};
    return std::nullopt;
  }

  // -- death and restart ------------------------------------------------------

  void adopt(managed_store store) {
    store_ = std::move(store);
    self_->monitor(store_);
  }

  void on_store_down(const std::string& reason) {
    store_ = nullptr;
    plan_restart(reason);
  }

  void plan_restart(const std::string& reason) {
    down_reason_ = "the store is down: " + reason;
    const auto now = self_->clock().now();
    while (!restarts_.empty() && now - restarts_.front() >= options_.period)
      restarts_.pop_front();
    const auto pause = pause_at(now);
    if (pause.count() == 0)
      return restart();
    // The shutdown of the actor system waits for a store, but not for a pause,
    // since one pause may follow another. A pause that ends at the moment when
    // the system stops waiting is too late.
    self_->unregister_from_system();
    self_->delayed_send(self_, pause, caf::tick_atom_v);
  }

  [[nodiscard]] caf::timespan pause_at(time_point now) const {
    if (restarts_.empty())
      return caf::timespan{0};
    if (restarts_.size() >= options_.max_restarts)
      return restarts_.front() + options_.period - now;
    auto result = options_.first_pause;
    for (auto n = restarts_.size(); n > 1 && result < options_.longest_pause;
         --n)
      result *= 2;
    return std::min(result, options_.longest_pause);
  }

  void restart() {
    self_->register_at_system();
    restarts_.push_back(self_->clock().now());
    try {
      adopt(factory_(self_->system()));
    } catch (...) {
      // now with a pause, which limits the recursion
      plan_restart(to_status(current_exception_to_error()).message());
    }
  }

  supervisor_actor::pointer self_;
  live_leases leases_;
  store_factory factory_;
  restart_options options_;

  managed_store store_;
  /// Error message with the reason why the store is down; used only while it is
  /// down.
  std::string down_reason_;
  /// Exit reason for the time when the store has ended; empty unless stopping.
  caf::optional<caf::error> stopping_;
  /// Times of the restarts within the last period, oldest first.
  std::deque<time_point> restarts_;
};

void check(const restart_options& x) {
  auto require = [](bool holds, const char* what) {
    if (!holds)
      throw status_error{errc::invalid_argument, what};
  };
  require(x.first_pause.count() > 0, "$.firstPause: must be longer than zero");
  require(x.longest_pause >= x.first_pause,
          "$.longestPause: is shorter than the first one");
  require(x.max_restarts > 0, "$.maxRestarts: must be 1 or more");
  require(x.period.count() > 0, "$.period: must be longer than zero");
}

} // namespace

managed_store supervise_store(caf::actor_system& system, store_factory factory,
                              restart_options options) {
  check(options);
  auto first = factory(system);
  // Not hidden: the thread of a detached store ends only after the supervisor
  // has received the store's down message and released its handle, which needs
  // a running scheduler. So the system has to wait for the supervisor.
  return system.spawn(
    [](supervisor_actor::stateful_pointer<supervisor_state> self,
       store_factory factory, restart_options options, managed_store first) {
      return self->state.make_behavior(std::move(factory), options,
                                       std::move(first));
    },
    std::move(factory), options, std::move(first));
}

} // namespace tertulia
