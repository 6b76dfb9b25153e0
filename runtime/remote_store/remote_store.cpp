// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/remote_actor.hpp>
#include <tertulia/remote_store.hpp>
#include <tertulia/status.hpp>
#include <tertulia/store.hpp>
#include <tertulia/store_handlers.hpp>
#include <tertulia/supervise.hpp>

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <functional>
#include <map>
#include <utility>

namespace tertulia {

namespace {

/// Connection to a store of another node. It asks in its own name, so that it
/// can answer what that node leaves unanswered, and ends when the node is lost.
class link_state {
public:
  static inline const char* name = "tertulia.store_link";

  explicit link_state(managed_store::pointer self) : self_(self) {}

  link_state(const link_state&) = delete;
  link_state& operator=(const link_state&) = delete;

  ~link_state() {
    refuse_all(fail(errc::unavailable, "the connection to the store ended"));
  }

  managed_store::behavior_type make_behavior(const std::string& host,
                                             std::uint16_t port,
                                             caf::timespan within) {
    try {
      store_ = remote_actor<managed_store>(self_->system(), host, port, within);
      self_->set_down_handler([this](const caf::down_msg& x) {
        const auto reason
          = fail(errc::unavailable,
                 "the node of the store is lost: " + caf::to_string(x.reason));
        refuse_all(reason);
        self_->quit(reason);
      });
      self_->monitor(store_);
    } catch (...) {
      self_->quit(current_exception_to_error());
    }
    return handle_verbs<managed_store>(
      [this](auto x) { return forward(std::move(x)); });
  }

private:
  template <class Verb, class Reply = store_reply_t<Verb>>
  caf::result<Reply> forward(Verb x) {
    auto promise = self_->template make_response_promise<Reply>();
    const auto number = ++last_number_;
    waiting_.emplace(number, [promise](const caf::error& reason) mutable {
      promise.deliver(reason);
    });
    auto answer = [this, promise, number](auto& result) mutable {
      if (waiting_.erase(number) > 0)
        promise.deliver(std::move(result));
    };
    // No time-out: the requester limits the time, and the down handler answers
    // for a lost node.
    self_->request(store_, caf::infinite, std::move(x))
      .then([answer](Reply& reply) mutable { answer(reply); },
            [answer](caf::error& reason) mutable { answer(reason); });
    return promise;
  }

  /// Answers all requests that wait for the other node.
  void refuse_all(const caf::error& reason) {
    for (auto& [number, refuse] : std::exchange(waiting_, {}))
      refuse(reason);
  }

  managed_store::pointer self_;
  managed_store store_;
  std::uint64_t last_number_ = 0;
  std::map<std::uint64_t, std::function<void(const caf::error&)>> waiting_;
};

} // namespace

managed_store connect_store(caf::actor_system& system, std::string host,
                            std::uint16_t port, restart_options options,
                            caf::timespan within) {
  const auto connect = [host = std::move(host), port,
                        within](caf::actor_system& in) -> managed_store {
    // Detached: it waits for the other node.
    return in.spawn<caf::detached>(
      [](managed_store::stateful_pointer<link_state> self,
         const std::string& host, std::uint16_t port, caf::timespan within) {
        return self->state.make_behavior(host, port, within);
      },
      host, port, within);
  };
  options.exits_actor = true;
  // The other node knows the holders of leases.
  return supervise(system, connect, options);
}

} // namespace tertulia
