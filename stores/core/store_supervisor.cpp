// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/status.hpp>
#include <tertulia/store_supervisor.hpp>

#include <caf/actor_clock.hpp>
#include <caf/actor_system.hpp>
#include <caf/optional.hpp>
#include <caf/response_promise.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <algorithm>
#include <deque>
#include <functional>
#include <unordered_map>
#include <utility>

namespace tertulia {

namespace {

/// Protocol of the supervisor: that of a store, and the message that the
/// supervisor sends to itself.
using supervisor_actor = managed_store::extend<caf::reacts_to<caf::tick_atom>>;

class supervisor_state {
public:
  static inline const char* name = "tertulia.store_supervisor";

  explicit supervisor_state(supervisor_actor::pointer self) : self_(self) {}

  supervisor_state(const supervisor_state&) = delete;
  supervisor_state& operator=(const supervisor_state&) = delete;

  /// Fails the pending requests. After a kill nothing else runs, and CAF drops
  /// a promise without an answer.
  ~supervisor_state() {
    fail_pending(fail(errc::unavailable, "the store was killed"));
  }

  supervisor_actor::behavior_type make_behavior(store_factory factory,
                                                restart_options options,
                                                managed_store store) {
    factory_ = std::move(factory);
    options_ = options;
    self_->set_down_handler([this](caf::down_msg& x) {
      if (!store_ || x.source != store_.address())
        return;
      if (stopping_)
        self_->quit(*stopping_);
      else
        on_store_down(caf::to_string(x.reason));
    });
    self_->set_exit_handler([this](caf::exit_msg& x) {
      stopping_ = x.reason;
      down_reason_ = "the store is being stopped";
      fail_pending(fail(errc::unavailable, down_reason_));
      // The store ends first: a client that waits for the end of the supervisor
      // may need the files that the store has open.
      if (store_)
        self_->send_exit(store_, x.reason);
      else
        self_->quit(x.reason);
    });
    adopt(std::move(store));
    return {
      hand_on<save_snapshot_request, save_result>(),
      hand_on<get_snapshot_request, stored_snapshot>(),
      hand_on<restore_snapshot_request, stored_snapshot>(),
      hand_on<list_snapshots_request, snapshot_page>(),
      hand_on<get_session_request, stored_session>(),
      hand_on<save_session_request, session_info>(),
      hand_on<list_sessions_request, session_page>(),
      hand_on<label_snapshot_request, snapshot_record>(),
      hand_on<delete_session_request, erase_result>(),
      hand_on<prune_snapshots_request, erase_result>(),
      hand_on<copy_session_request, session_info>(),
      hand_on<annotate_snapshot_request, snapshot_record>(),
      hand_on<title_session_request, session_info>(),
      hand_on<vacuum_store_request, vacuum_result>(),
      hand_on<verify_sessions_request, verification_page>(),
      [this](caf::tick_atom) { restart(); },
    };
  }

private:
  using time_point = caf::actor_clock::time_point;

  // -- requests ---------------------------------------------------------------

  /// Returns a handler that forwards a request to the store. Delegation is not
  /// sufficient: if a store dies while it holds a promise, the client would not
  /// receive an answer.
  template <class Verb, class Answer>
  std::function<caf::result<Answer>(Verb&)> hand_on() {
    return [this](Verb& x) -> caf::result<Answer> {
      if (!store_ || stopping_)
        return fail(errc::unavailable, down_reason_);
      auto promise = self_->make_response_promise<Answer>();
      const auto number = ++last_request_;
      pending_.emplace(number, promise);
      // Infinite, because a time-out of CAF costs more than the save. The death
      // of the store is always noticed: the store is on this node and is
      // monitored.
      self_->request(store_, caf::infinite, std::move(x))
        .then([=, this](Answer& answer) { settle(number, std::move(answer)); },
              [=, this](caf::error& reason) {
                settle(number, std::move(reason));
              });
      return promise;
    };
  }

  /// Answers a request, unless it was answered when the store died.
  template <class T>
  void settle(std::uint64_t number, T answer) {
    if (const auto i = pending_.find(number); i != pending_.end()) {
      i->second.deliver(std::move(answer));
      pending_.erase(i);
    }
  }

  void fail_pending(const caf::error& reason) {
    for (auto& [number, promise] : std::exchange(pending_, {}))
      promise.deliver(reason);
  }

  // -- death and restart ------------------------------------------------------

  void adopt(managed_store store) {
    store_ = std::move(store);
    self_->monitor(store_);
  }

  void on_store_down(const std::string& reason) {
    store_ = nullptr;
    fail_pending(fail(errc::unavailable, "the store has died: " + reason));
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

  std::uint64_t last_request_ = 0;
  std::unordered_map<std::uint64_t, caf::response_promise> pending_;
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
