// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/detail/action.hpp>
#include <tertulia/detail/conversation.hpp>
#include <tertulia/detail/inbox.hpp>
#include <tertulia/detail/outbox.hpp>
#include <tertulia/detail/scope.hpp>
#include <tertulia/open.hpp>
#include <tertulia/protocol.hpp>
#include <tertulia/task.hpp>
#include <tertulia/trace.hpp>
#include <tertulia/turn.hpp>

#include <caf/actor_clock.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>
#include <caf/typed_response_promise.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace tertulia::detail {

class environment;
class nested_connection;

/// Protocol of a connection actor: messages of its client, of connections whose
/// client is its body, for its own waits, and of the other actors of its
/// conversation.
using host_actor = protocol<
  caf::result<opened>(open), caf::result<void>(turn_input),
  caf::result<void>(chunk_credit), caf::result<void>(caf::close_atom),
  caf::result<void>(cancel_atom), caf::result<void>(chunk_batch),
  caf::result<void>(input_credit), caf::result<void>(turn_end),
  caf::result<void>(finished), caf::result<void>(caf::tick_atom, std::uint64_t),
  caf::result<void>(done_atom, std::uint64_t), caf::result<void>(claim_atom),
  caf::result<void>(release_atom), caf::result<void>(spend_atom, std::uint32_t),
  caf::result<void>(cancel_atom, caf::error)>;

/// State of a connection actor: hosts the body and moves its inputs and chunks.
///
/// A handler only records an event and wakes the waiting coroutines. `settle`
/// then resumes them one after the other, sends the gathered chunks and, if the
/// body has ended, the completion message. So no part of a body runs inside
/// another part, and no frame is destroyed while it runs.
///
/// @threads only on its actor.
/// @design  docs/engine.md#connection.
class host {
public:
  static inline const char* name = "tertulia.connection";

  explicit host(host_actor::pointer self);

  host(const host&) = delete;
  host& operator=(const host&) = delete;

  /// Sends the completion message if it was not sent: the actor was killed.
  ~host();

  host_actor::behavior_type run(std::shared_ptr<environment> env,
                                std::shared_ptr<const action> what);

  // -- for waits --------------------------------------------------------------

  /// Returns the actor, for sending messages and requests.
  [[nodiscard]] host_actor::pointer self() const noexcept {
    return self_;
  }

  [[nodiscard]] environment& env() const noexcept {
    return *env_;
  }

  [[nodiscard]] const std::shared_ptr<const action>& what() const noexcept {
    return action_;
  }

  /// Schedules the coroutine for the next `settle`.
  void schedule(std::coroutine_handle<> waiting) {
    ready_.push_back(waiting);
  }

  /// Resumes the scheduled coroutines and sends the gathered chunks. Every
  /// handler that can schedule a coroutine calls this last; those of
  /// `claim_atom` and `spend_atom` cannot.
  void settle();

  /// Registers a wait.
  /// @returns its number, by which a reply can find it.
  std::uint64_t enlist(wait& x);

  /// Registers a wait that is aborted with `deadline_exceeded` if it is not
  /// claimed `within` that time.
  /// @param vital whether the connection cannot continue then, and is
  ///              cancelled.
  std::uint64_t enlist(wait& x, caf::timespan within, bool vital = false);

  /// Removes the wait of that number and returns it; null if it ended before.
  wait* claim(std::uint64_t id) noexcept;

  /// Aborts the wait of that number if `other` is lost before it replies: CAF
  /// does not answer a request to a lost node.
  void watch_for(std::uint64_t id, const caf::actor_addr& other);

  /// Sends the gathered chunks to the client, or the input credit that is due.
  void flush();

  /// Ends the turn: sends its gathered chunks, then the end of the turn.
  /// @pre a credit was reserved for it.
  void end_turn();

  /// Requests a tick with the number `id` after `delay`.
  void arm(std::uint64_t id, caf::timespan delay);
  void disarm(std::uint64_t id);

  /// Returns the session in which the body runs, its own or that of its caller;
  /// without actors if there is no session.
  [[nodiscard]] const session_link& link() const noexcept {
    return link_;
  }

  /// Returns the init of the client in the action's own type, with the snapshot
  /// that the client chose; empty if it gave none. Only for conversations.
  [[nodiscard]] const payload& given_init() const noexcept {
    return init_;
  }

  void attach(nested_connection& x);
  void detach(nested_connection& x) noexcept;

  // -- for the body -----------------------------------------------------------

  inbox in;
  outbox out;
  scope root;
  span trace;

  /// Time at which the connection is cancelled with `deadline_exceeded`.
  std::optional<caf::actor_clock::time_point> deadline;

private:
  using time_point = caf::actor_clock::time_point;

  struct enlisted {
    std::uint64_t id;
    wait* who;
    time_point due;
    bool vital = false;
  };

  static constexpr std::uint64_t deadline_id = 0;
  static constexpr std::uint64_t expiry_id = 1;

  /// Longest time that a client of another node may take for the messages up to
  /// the completion message. A stopping runtime waits for each of its
  /// connections, and a client that does not respond must not delay it.
  static constexpr caf::timespan longest_hearing = std::chrono::minutes{1};
  static constexpr caf::timespan longest_hearing_of_a_stop
    = std::chrono::seconds{2};

  /// Listener for the end of the body.
  class body_end final : public task_listener {
  public:
    explicit body_end(host& of) noexcept : of_(of) {}

    void on_task_end() noexcept override {
      of_.ended_ = true;
    }

  private:
    host& of_;
  };

  /// State that is needed until the body starts. As a wait it limits the time
  /// for opening a session, which may need its store.
  class opening final : public wait {
  public:
    explicit opening(host& of) noexcept : of_(of) {}

    void abort(const caf::error& reason) override {
      of_.refuse(reason);
    }

    caf::typed_response_promise<opened> answer;
    std::uint64_t id = 0; // number of the wait; 0 if it is not registered

  private:
    host& of_;
  };

  // -- handlers ---------------------------------------------------------------

  caf::result<opened> start(open& x);
  void open_session(session_opening how);
  void start_conversation(const session_id& id);
  void start_body(payload init);
  void refuse(caf::error reason);
  void deliver_refusal();
  caf::result<void> take_input(turn_input& x);
  caf::result<void> lend_credit();
  void abort(const caf::error& reason);
  void expire();
  void on_down(const caf::down_msg& x);
  [[nodiscard]] nested_connection* nested() const noexcept;

  // -- the end ----------------------------------------------------------------

  void conclude();
  void say_last_word(payload output, caf::error reason);
  void keep_state(const session_view& x);
  void end_session();
  void deliver_last_word();
  void quit_if_done();
  void quit_once_heard();

  /// Returns the error that the client may see. A client of another node gets
  /// an id instead of the text of an unexpected exception, which may hold
  /// anything; the log has both.
  [[nodiscard]] caf::error for_client(caf::error reason);

  host_actor::pointer self_;
  std::shared_ptr<environment> env_;
  std::shared_ptr<const action> action_;
  chunk_sink client_;
  chunk_sink sink_;        // the client, or the responder in front of it
  bool remote_ = false;    // the client is on another node: encode here, where
                           // an error can still be reported
  bool ended_ = false;     // the body has ended
  bool concluded_ = false; // the outcome is known
  bool told_ = false;      // the completion message was sent
  bool heard_ = false;     // the client has received it, is gone, or is local
  bool is_asking_ = false; // the client was asked whether it has received it
  caf::timespan hearing_limit_ = longest_hearing;

  struct withheld_error {
    std::string text;
    caf::error instead;
  };
  std::optional<withheld_error>
    withheld_; // keeps the id of an error that is reported again

  // Conversations only.
  session_actor session_; // null once it has ended
  bool leased_ = false;   // the session is in a store: others may know it
  responder_actor responder_;
  session_link link_;
  payload init_;
  std::unique_ptr<opening> opening_; // until the body starts
  payload output_;                   // kept for the completion message
  caf::error reason_;

  std::vector<std::coroutine_handle<>> ready_;
  std::coroutine_handle<> next_; // resumed when the current coroutine suspends
  std::uint64_t last_id_ = expiry_id;
  std::vector<enlisted> enlisted_;
  time_point next_expiry_ = time_point::max();
  std::vector<std::pair<caf::actor_addr, std::uint64_t>> asked_;
  std::vector<nested_connection*> nested_;

  body_end body_end_{*this};

  // Destroyed first: the frames refer to everything above.
  std::optional<task<payload>> body_;
};

} // namespace tertulia::detail
