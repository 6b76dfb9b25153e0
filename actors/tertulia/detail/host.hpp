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

/// Everything that a connection hears: a client's words, those of connections
/// to which its body is the client, the ends of its own waits, and what others
/// of its conversation did to it.
using host_actor = protocol<
  caf::result<opened>(open), caf::result<void>(turn_input),
  caf::result<void>(chunk_credit), caf::result<void>(caf::close_atom),
  caf::result<void>(cancel_atom), caf::result<void>(chunk_batch),
  caf::result<void>(input_credit), caf::result<void>(turn_end),
  caf::result<void>(finished), caf::result<void>(caf::tick_atom, std::uint64_t),
  caf::result<void>(done_atom, std::uint64_t), caf::result<void>(claim_atom),
  caf::result<void>(release_atom), caf::result<void>(spend_atom, std::uint32_t),
  caf::result<void>(cancel_atom, caf::error)>;

/// The state of a connection actor: hosts the body and moves its inputs and
/// chunks.
///
/// A handler only marks what happened and wakes who waited; `settle` then
/// resumes the woken parts of the body one after the other, sends what has
/// gathered and, if the body has ended, says the last word. So a body never
/// runs inside another part of itself, and no frame is destroyed while it runs.
///
/// @threads only on its actor.
/// @design  README §5.3 "The connection".
class host {
public:
  static inline const char* name = "tertulia.connection";

  explicit host(host_actor::pointer self);

  host(const host&) = delete;
  host& operator=(const host&) = delete;

  /// Says the last word if nobody did: the actor was killed.
  ~host();

  host_actor::behavior_type run(std::shared_ptr<environment> env,
                                std::shared_ptr<const action> what);

  // -- for waits --------------------------------------------------------------

  /// The actor: for sending and asking.
  [[nodiscard]] host_actor::pointer self() const noexcept {
    return self_;
  }

  [[nodiscard]] environment& env() const noexcept {
    return *env_;
  }

  [[nodiscard]] const std::shared_ptr<const action>& what() const noexcept {
    return action_;
  }

  /// Has the coroutine resumed by the next `settle`.
  void schedule(std::coroutine_handle<> waiting) {
    ready_.push_back(waiting);
  }

  /// Resumes what is ready and sends what has gathered. The last thing that
  /// every handler does.
  void settle();

  /// Gives the wait a number under which an answer can find it.
  std::uint64_t enlist(wait& x);

  /// The same for a wait that is aborted with `deadline_exceeded` if nobody has
  /// claimed it `within` that time.
  /// @param vital whether the connection cannot go on then, and is cancelled.
  std::uint64_t enlist(wait& x, caf::timespan within, bool vital = false);

  /// Returns the wait of that number and forgets it; null if it ended before.
  wait* claim(std::uint64_t id) noexcept;

  /// Aborts the wait of that number if `other` is lost before it answers: CAF
  /// leaves a request to a lost node without an answer.
  void watch_for(std::uint64_t id, const caf::actor_addr& other);

  /// Sends what has gathered to the client.
  void flush();

  /// Ends the turn: everything of it leaves now.
  /// @pre a credit was reserved for it.
  void end_turn();

  /// Asks for a tick with the number `id` after `delay`.
  void arm(std::uint64_t id, caf::timespan delay);
  void disarm(std::uint64_t id);

  /// The session in which the body runs, its own or that of its caller; without
  /// actors if there is none.
  [[nodiscard]] const session_link& link() const noexcept {
    return link_;
  }

  /// What the client gave, as the action's own type, and the snapshot that it
  /// chose; empty if it gave nothing. Only for conversations.
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

  /// When the connection will be cancelled with `deadline_exceeded`.
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

  /// How long a client of another node may take for what was said before the
  /// last word. A runtime that stops waits for each of its connections: one
  /// client that stands still must not hold it up.
  static constexpr caf::timespan longest_hearing = std::chrono::minutes{1};
  static constexpr caf::timespan longest_hearing_of_a_stop
    = std::chrono::seconds{2};

  /// Hears that the body has ended.
  class body_end final : public task_listener {
  public:
    explicit body_end(host& of) noexcept : of_(of) {}

    void on_task_end() noexcept override {
      of_.ended_ = true;
    }

  private:
    host& of_;
  };

  /// What is needed until the body starts. Keeps the time for the opening of a
  /// session, which may need its store.
  class opening final : public wait {
  public:
    explicit opening(host& of) noexcept : of_(of) {}

    void abort(const caf::error& reason) override {
      of_.refuse(reason);
    }

    caf::typed_response_promise<opened> answer;
    std::uint64_t id = 0; // as a wait; 0 if nobody waits

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

  /// Returns the error as the client may see it. A client of another node gets
  /// an id instead of the text of an unexpected exception, which may hold
  /// anything; the log has both.
  [[nodiscard]] caf::error for_client(caf::error reason);

  host_actor::pointer self_;
  std::shared_ptr<environment> env_;
  std::shared_ptr<const action> action_;
  chunk_sink client_;
  chunk_sink sink_;        // the client, or the responder before it
  bool remote_ = false;    // encode here, where an error can still be told
  bool ended_ = false;     // the body has ended
  bool concluded_ = false; // the last word is known
  bool told_ = false;      // and was said
  bool heard_ = false;     // a client of another node has it, or is gone
  bool is_asking_ = false; // whether it has
  caf::timespan hearing_limit_ = longest_hearing;

  struct withheld_error {
    std::string text;
    caf::error instead;
  };
  std::optional<withheld_error>
    withheld_; // has one id, however often it is told

  // Conversations only.
  session_actor session_; // null once it has ended
  bool leased_ = false;   // others can know the session: it is in a store
  responder_actor responder_;
  session_link link_;
  payload init_;
  std::unique_ptr<opening> opening_; // until the body starts
  payload output_;                   // the last word, until told
  caf::error reason_;

  std::vector<std::coroutine_handle<>> ready_;
  std::coroutine_handle<> next_; // who goes on when the present one waits
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
