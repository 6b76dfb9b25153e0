// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/detail/timer.hpp>
#include <tertulia/remote_actor.hpp>
#include <tertulia/remote_runtime.hpp>
#include <tertulia/remote_store.hpp>
#include <tertulia/status.hpp>
#include <tertulia/store.hpp>
#include <tertulia/store_handlers.hpp>

#include <caf/actor_cast.hpp>
#include <caf/make_message.hpp>
#include <caf/message_id.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>
#include <caf/typed_response_promise.hpp>

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace tertulia {

namespace {

using namespace std::chrono_literals;

constexpr caf::timespan first_pause = 10ms;
constexpr caf::timespan longest_pause = 1s;

/// Number of requests that are held: what clients send meanwhile has a bound.
constexpr std::size_t max_held = 10'000;

/// Longest attempt to connect while nobody waits any more.
constexpr caf::timespan late_attempt = 1s;

/// Finds the store, on a thread that may block.
/// @param within longest time for that.
using store_search
  = std::function<managed_store(caf::actor_system&, caf::timespan within)>;

// -- attempt to connect -------------------------------------------------------

using connector_actor = caf::typed_actor<
  caf::replies_to<caf::connect_atom>::with<caf::strong_actor_ptr>>;

/// Spawns an actor that connects once and ends. Detached: it waits for the
/// other node.
connector_actor spawn_connector(caf::actor_system& system,
                                const store_search& search,
                                caf::timespan within) {
  return system.spawn<caf::detached>(
    [](connector_actor::pointer self, const store_search& search,
       caf::timespan within) -> connector_actor::behavior_type {
      return {[self, search, within](
                caf::connect_atom) -> caf::result<caf::strong_actor_ptr> {
        self->quit();
        try {
          return caf::actor_cast<caf::strong_actor_ptr>(
            search(self->system(), within));
        } catch (...) {
          return current_exception_to_error();
        }
      }};
    },
    search, within);
}

// -- link ---------------------------------------------------------------------

using link_actor = managed_store::extend<caf::reacts_to<caf::ok_atom>,
                                         caf::reacts_to<caf::tick_atom>>;

/// Connection to the store of another node, made again when it is lost. It asks
/// in its own name, so that it can answer what that node leaves unanswered, and
/// holds requests while there is no connection.
class link_state {
public:
  static inline const char* name = "tertulia.store_link";

  explicit link_state(link_actor::pointer self) : self_(self) {}

  link_state(const link_state&) = delete;
  link_state& operator=(const link_state&) = delete;

  ~link_state() {
    const auto reason
      = fail(errc::unavailable, "the handle of the store has ended");
    refuse_held(reason);
    for (auto& [id, refuse] : sent_)
      refuse(reason);
  }

  link_actor::behavior_type make_behavior(store_search search,
                                          caf::timespan within) {
    search_ = std::move(search);
    within_ = within;
    self_->set_down_handler([this](const caf::down_msg& x) {
      if (store_ && x.source == store_.address())
        lose(x.reason);
    });
    begin_outage();
    connect();
    return handle_verbs<link_actor>(
      [this](auto x) { return pass_on(std::move(x)); },
      [this](caf::ok_atom) { confirm(); },
      [this](caf::tick_atom) { connect(); });
  }

private:
  template <class Reply>
  using reply_promise = caf::typed_response_promise<Reply>;

  struct held_request {
    std::function<void()> send;
    std::function<void(const caf::error&)> refuse;
  };

  // -- requests ---------------------------------------------------------------

  template <class Verb, class Reply = store_reply_t<Verb>>
  caf::result<Reply> pass_on(Verb x) {
    if (!is_connected_ && gives_up())
      return last_error_;
    if (held_.size() >= max_held)
      return fail(errc::resource_exhausted,
                  fmt::format("{} requests wait for the node of the store "
                              "already",
                              max_held));
    auto promise = self_->template make_response_promise<Reply>();
    if (is_connected_)
      send(std::move(x), promise);
    else
      held_.push_back(
        {[this, x = std::move(x), promise]() mutable {
           send(std::move(x), promise);
         },
         [promise](const caf::error& e) mutable { promise.deliver(e); }});
    return promise;
  }

  template <class Verb, class Reply>
  void send(Verb x, reply_promise<Reply> promise) {
    // No time-out: the requester limits the time, and the down handler answers
    // for a lost node.
    auto pending = self_->request(store_, caf::infinite, std::move(x));
    const auto id = pending.id();
    sent_.emplace(id, [promise](const caf::error& e) mutable {
      promise.deliver(e);
    });
    pending.then(
      [this, promise, id](Reply& reply) mutable {
        sent_.erase(id);
        trusted_from_ = {};
        promise.deliver(std::move(reply));
      },
      [this, promise, id](caf::error& reason) mutable {
        sent_.erase(id);
        // CAF may answer for a dead proxy before it reports the death.
        if (reason != caf::sec::request_receiver_down)
          trusted_from_ = {};
        else if (store_)
          lose(reason);
        promise.deliver(std::move(reason));
      });
  }

  void refuse_held(const caf::error& reason) {
    for (auto& x : std::exchange(held_, {}))
      x.refuse(reason);
  }

  /// Answers the requests that wait for the other node in its place: CAF keeps
  /// the handlers of a request until it has an answer.
  void answer_sent(const caf::error& reason) {
    for (const auto& [id, refuse] : sent_)
      self_->enqueue(nullptr, id, caf::make_message(reason), self_->context());
  }

  // -- connection -------------------------------------------------------------

  void connect() {
    if (gives_up())
      refuse_held(last_error_);
    const auto left = gives_up_at_ - self_->clock().now();
    const auto limit
      = std::min(within_, std::max<caf::timespan>(left, late_attempt));
    // No time-out: the connector has one.
    self_
      ->request(spawn_connector(self_->system(), search_, limit), caf::infinite,
                caf::connect_atom_v)
      .then([this](const caf::strong_actor_ptr& found) { check(found); },
            [this](const caf::error& reason) { fail_to_connect(reason); });
  }

  /// CAF may find the proxy of a node that it has just lost. The message that
  /// reports its death is then in the mailbox before this actor's own one.
  void check(const caf::strong_actor_ptr& found) {
    store_ = caf::actor_cast<managed_store>(found);
    self_->monitor(store_);
    self_->send(self_, caf::ok_atom_v);
  }

  void confirm() {
    if (!store_)
      return;
    is_connected_ = true;
    trusted_from_ = self_->clock().now() + longest_pause;
    for (auto& x : std::exchange(held_, {}))
      x.send();
  }

  void lose(const caf::error& reason) {
    self_->demonitor(store_.address());
    store_ = nullptr;
    last_error_
      = fail(errc::unavailable, fmt::format("the node of the store is lost: {}",
                                            caf::to_string(reason)));
    is_permanent_ = false;
    if (std::exchange(is_connected_, false)
        && self_->clock().now() >= trusted_from_) {
      begin_outage();
      pause_ = first_pause;
    }
    answer_sent(last_error_);
    connect_later();
  }

  void fail_to_connect(const caf::error& reason) {
    const auto status = to_status(reason);
    is_permanent_ = status.code() == errc::failed_precondition
                    || status.code() == errc::permission_denied
                    || status.code() == errc::not_found;
    last_error_
      = is_permanent_ ? reason : fail(errc::unavailable, status.message());
    connect_later();
  }

  void connect_later() {
    if (gives_up())
      refuse_held(last_error_);
    const auto pause
      = std::exchange(pause_, std::min(2 * pause_, longest_pause));
    self_->delayed_send(self_, pause, caf::tick_atom_v);
  }

  void begin_outage() {
    gives_up_at_ = detail::later(self_->clock().now(), within_);
  }

  /// Returns whether requests are refused at once: the node has been away for
  /// long, or for a reason that time does not mend.
  /// @pre there is no connection.
  [[nodiscard]] bool gives_up() const {
    return is_permanent_ || self_->clock().now() >= gives_up_at_;
  }

  link_actor::pointer self_;
  store_search search_;
  caf::timespan within_{};
  /// Null between connections.
  managed_store store_;
  bool is_connected_ = false; ///< and the connection is confirmed.
  /// Time from which the end of the connection is a new outage. Earlier, a port
  /// may have outlived its store, which is found and lost again and again.
  caf::actor_clock::time_point trusted_from_;
  /// End of the time in which requests wait for a connection.
  caf::actor_clock::time_point gives_up_at_;
  caf::error last_error_ = fail(errc::unavailable, "no connection yet");
  bool is_permanent_ = false; ///< about the last error.
  caf::timespan pause_ = first_pause;
  std::deque<held_request> held_;
  /// Refuses requests that wait for the other node, by the id of the answer.
  std::map<caf::message_id, std::function<void(const caf::error&)>> sent_;
};

managed_store spawn_link(caf::actor_system& system, store_search search,
                         caf::timespan within) {
  // A handle that delegates to a link and, being linked, ends it: CAF keeps an
  // actor alive that has sent to another node.
  return system.spawn(
    [](managed_store::pointer self, store_search search, caf::timespan within) {
      const auto link = self->spawn<caf::linked>(
        [](link_actor::stateful_pointer<link_state> self, store_search search,
           caf::timespan within) {
          return self->state.make_behavior(std::move(search), within);
        },
        std::move(search), within);
      return handle_verbs<managed_store>(
        [self, link]<class Verb>(Verb x) -> caf::result<store_reply_t<Verb>> {
          return self->delegate(link, std::move(x));
        });
    },
    std::move(search), within);
}

} // namespace

managed_store connect_store(caf::actor_system& system, std::string host,
                            std::uint16_t port, caf::timespan within) {
  return spawn_link(
    system,
    [host = std::move(host), port](caf::actor_system& system,
                                   caf::timespan within) {
      return remote_actor<managed_store>(system, host, port, within);
    },
    within);
}

managed_store connect_store(caf::actor_system& system, remote_runtime there,
                            std::string key, caf::timespan within) {
  return spawn_link(
    system,
    [there = std::move(there), key = std::move(key)](
      caf::actor_system&, caf::timespan) { return there.store(key); },
    within);
}

} // namespace tertulia
