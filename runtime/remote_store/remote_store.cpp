// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/detail/timer.hpp>
#include <tertulia/remote_actor.hpp>
#include <tertulia/remote_store.hpp>
#include <tertulia/status.hpp>
#include <tertulia/store.hpp>
#include <tertulia/store_handlers.hpp>

#include <caf/actor_cast.hpp>
#include <caf/send.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <utility>

namespace tertulia {

namespace {

using namespace std::chrono_literals;
using time_point = caf::actor_clock::time_point;

constexpr caf::timespan first_pause = 10ms;
constexpr caf::timespan longest_pause = 1s;

/// Longest attempt to connect while nobody waits any more.
constexpr caf::timespan late_attempt = 1s;

/// Address of a published store.
struct endpoint {
  std::string host;
  std::uint16_t port = 0;
};

// -- link ---------------------------------------------------------------------

using link_owner = caf::typed_actor<caf::reacts_to<caf::ok_atom>,
                                    caf::reacts_to<caf::close_atom>>;
using link_actor = managed_store::extend<caf::reacts_to<caf::ok_atom>>;

/// One connection to the store of another node. It asks in its own name, so
/// that it can answer what that node leaves unanswered, and ends when the node
/// is lost. It tells its owner when it is connected (`ok_atom`), and when it is
/// no longer (`close_atom`), before an answer says so to anybody.
class link_state {
public:
  static inline const char* name = "tertulia.store_link";

  explicit link_state(link_actor::pointer self) : self_(self) {}

  link_state(const link_state&) = delete;
  link_state& operator=(const link_state&) = delete;

  ~link_state() {
    refuse_all(fail(errc::unavailable, "the connection to the store ended"));
  }

  link_actor::behavior_type make_behavior(const endpoint& where,
                                          caf::timespan within,
                                          const caf::actor_addr& owner) {
    owner_ = owner;
    try {
      store_ = remote_actor<managed_store>(self_->system(), where.host,
                                           where.port, within);
      self_->set_down_handler(
        [this](const caf::down_msg& x) { lose(x.reason); });
      self_->monitor(store_);
      // CAF may return the proxy of a node that it has just lost. The message
      // that reports its death is then in the mailbox before this one.
      self_->send(self_, caf::ok_atom_v);
    } catch (...) {
      self_->quit(current_exception_to_error());
    }
    return handle_verbs<link_actor>(
      [this](auto x) { return forward(std::move(x)); },
      [this](caf::ok_atom) { tell_owner(caf::ok_atom_v); });
  }

private:
  template <class Verb, class Reply = store_reply_t<Verb>>
  caf::result<Reply> forward(Verb x) {
    auto promise = self_->template make_response_promise<Reply>();
    const auto number = ++last_number_;
    waiting_.emplace(number, [promise](const caf::error& reason) mutable {
      promise.deliver(reason);
    });
    // No time-out: the requester limits the time, and the down handler answers
    // for a lost node.
    self_->request(store_, caf::infinite, std::move(x))
      .then(
        [this, promise, number](Reply& reply) mutable {
          if (waiting_.erase(number) > 0)
            promise.deliver(std::move(reply));
        },
        [this, promise, number](caf::error& reason) mutable {
          // CAF may answer for a dead proxy before it reports the death.
          if (reason == caf::sec::request_receiver_down)
            lose(reason);
          if (waiting_.erase(number) > 0)
            promise.deliver(std::move(reason));
        });
    return promise;
  }

  void lose(const caf::error& reason) {
    const auto loss = fail(errc::unavailable, "the node of the store is lost: "
                                                + caf::to_string(reason));
    tell_owner(caf::close_atom_v);
    refuse_all(loss);
    self_->quit(loss);
  }

  template <class Word>
  void tell_owner(Word word) {
    if (const auto to = caf::actor_cast<link_owner>(owner_))
      self_->send(to, word);
  }

  /// Answers all requests that wait for the other node.
  void refuse_all(const caf::error& reason) {
    for (auto& [number, refuse] : std::exchange(waiting_, {}))
      refuse(reason);
  }

  link_actor::pointer self_;
  caf::actor_addr owner_;
  managed_store store_;
  std::uint64_t last_number_ = 0;
  std::map<std::uint64_t, std::function<void(const caf::error&)>> waiting_;
};

// -- owner of the link --------------------------------------------------------

using owner_actor = managed_store::extend<caf::reacts_to<caf::ok_atom>,
                                          caf::reacts_to<caf::close_atom>,
                                          caf::reacts_to<caf::tick_atom>>;

/// Store that delegates to a link, holds requests while there is none that is
/// connected, and starts the next link when one has ended.
class owner_state {
public:
  static inline const char* name = "tertulia.remote_store";

  explicit owner_state(owner_actor::pointer self) : self_(self) {}

  owner_state(const owner_state&) = delete;
  owner_state& operator=(const owner_state&) = delete;

  ~owner_state() {
    refuse_held(fail(errc::unavailable, "the store's handle has ended"));
    if (link_) // it has sent to another node, so CAF keeps it alive
      caf::anon_send_exit(link_, caf::exit_reason::user_shutdown);
  }

  owner_actor::behavior_type make_behavior(endpoint where,
                                           caf::timespan within) {
    endpoint_ = std::move(where);
    within_ = within;
    self_->set_down_handler([this](const caf::down_msg& x) {
      if (link_ && x.source == link_.address())
        on_end(x.reason);
    });
    begin_outage();
    connect();
    return handle_verbs<owner_actor>(
      [this](auto x) { return pass_on(std::move(x)); },
      [this](caf::ok_atom) {
        if (is_from_link())
          on_connected();
      },
      [this](caf::close_atom) {
        if (is_from_link())
          on_lost();
      },
      [this](caf::tick_atom) {
        if (!link_)
          connect();
      });
  }

private:
  struct held_request {
    std::function<void()> send;
    std::function<void(const caf::error&)> refuse;
  };

  // -- requests ---------------------------------------------------------------

  template <class Verb, class Reply = store_reply_t<Verb>>
  caf::result<Reply> pass_on(Verb x) {
    if (connected_at_)
      return self_->delegate(link_, std::move(x));
    if (gives_up())
      return last_error_;
    auto promise = self_->template make_response_promise<Reply>();
    held_.push_back(
      {[this, x = std::move(x), promise]() mutable {
         promise.delegate(link_, std::move(x));
       },
       [promise](const caf::error& e) mutable { promise.deliver(e); }});
    return promise;
  }

  void refuse_held(const caf::error& reason) {
    for (auto& x : std::exchange(held_, {}))
      x.refuse(reason);
  }

  // -- connection -------------------------------------------------------------

  [[nodiscard]] bool is_from_link() const {
    const auto& sender = self_->current_sender();
    return link_ && sender && sender->address() == link_.address();
  }

  void connect() {
    const auto left = gives_up_at_ - self_->clock().now();
    const auto limit
      = std::min(within_, std::max<caf::timespan>(left, late_attempt));
    // Detached: it waits for the other node.
    link_ = self_->spawn<caf::detached>(
      [](link_actor::stateful_pointer<link_state> self, const endpoint& where,
         caf::timespan within, const caf::actor_addr& owner) {
        return self->state.make_behavior(where, within, owner);
      },
      endpoint_, limit, self_->address());
    self_->monitor(link_);
  }

  void on_connected() {
    connected_at_ = self_->clock().now();
    for (auto& x : std::exchange(held_, {}))
      x.send();
  }

  void on_lost() {
    const auto since = std::exchange(connected_at_, {});
    if (!since)
      return;
    if (self_->clock().now() - *since >= longest_pause)
      pause_ = first_pause;
    begin_outage();
  }

  void on_end(const caf::error& reason) {
    on_lost();
    link_ = nullptr;
    const auto status = to_status(reason);
    is_permanent_ = status.code() != errc::unavailable
                    && status.code() != errc::deadline_exceeded;
    last_error_
      = is_permanent_ ? reason : fail(errc::unavailable, status.message());
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

  owner_actor::pointer self_;
  endpoint endpoint_;
  caf::timespan within_{};
  /// Null between the attempts.
  link_actor link_;
  /// Empty while there is no connection.
  std::optional<time_point> connected_at_;
  /// End of the time in which requests wait for a connection.
  time_point gives_up_at_;
  caf::error last_error_;
  bool is_permanent_ = false; ///< about the last error.
  caf::timespan pause_ = first_pause;
  std::deque<held_request> held_;
};

} // namespace

managed_store connect_store(caf::actor_system& system, std::string host,
                            std::uint16_t port, caf::timespan within) {
  return system.spawn(
    [](owner_actor::stateful_pointer<owner_state> self, endpoint where,
       caf::timespan within) {
      return self->state.make_behavior(std::move(where), within);
    },
    endpoint{std::move(host), port}, within);
}

} // namespace tertulia
