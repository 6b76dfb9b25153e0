// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/ai/conversation.hpp>
#include <tertulia/ai/interrupt.hpp>
#include <tertulia/bidi_action.hpp>
#include <tertulia/protocol.hpp>
#include <tertulia/status.hpp>
#include <tertulia/testing/run_until_idle.hpp>

#include <caf/actor_system.hpp>
#include <caf/scheduler/test_coordinator.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tertulia::testing {

/// Client that does nothing by itself but to confirm the end of a kept run: it
/// records everything that it receives, and sends what the test tells it to
/// send. For a `deterministic_runtime`:
/// unless said otherwise, a member function that sends runs all actors until
/// they are idle.
///
/// The window of chunks is that of the options; credit is granted only by
/// `grant`, so a test sees what an action does without it.
///
/// @threads  only the thread of its runtime.
/// @lifetime must not outlive its runtime; the connection is cancelled with it.
/// @design   docs/testing.md#clients.
template <class In, class Out, class Stream>
class recording_client {
public:
  struct log {
    std::optional<open_result> open;
    caf::error refused; ///< reason if the open failed
    std::vector<Stream> chunks;
    std::vector<std::uint32_t> batches; ///< sizes, in order
    std::uint64_t next = 0;   ///< expected number of what follows in the log
    std::uint32_t gaps = 0;   ///< batches and ends with an unexpected number
    std::uint64_t inputs = 0; ///< number of the next input of a kept run
    std::uint32_t input_credit = 0;    ///< credit that is left
    std::uint32_t credit_messages = 0; ///< credit in separate messages
    std::uint64_t turns = 0;
    std::optional<turn_end> last_turn; ///< without its chunks
    std::optional<completion> end;
    std::uint32_t ends = 0; ///< completion messages: at most one
  };

  template <class Init, class... Options>
  recording_client(caf::actor_system& system, const front_desk_actor& desk,
                   const bidi_action<Init, In, Out, Stream>& what,
                   const Options&... options)
    : recording_client(system, desk,
                       what.opening_for(chunk_sink{}, options...)) {
    run_all();
  }

  /// Sends an open request without running an actor.
  recording_client(caf::actor_system& system, const front_desk_actor& desk,
                   open_request request)
    : system_(&system) {
    sink_ = system.spawn(make_behavior, log_, desk, std::move(request));
  }

  recording_client(const recording_client&) = delete;
  recording_client& operator=(const recording_client&) = delete;

  ~recording_client() {
    caf::anon_send_exit(sink_, caf::exit_reason::user_shutdown);
  }

  const log& received() const noexcept {
    return *log_;
  }

  /// Returns the error code of the completion message; `errc::ok` if the body
  /// returned.
  errc code() const {
    return code_of(log_->end.value().reason);
  }

  /// Returns the error in the completion message; `ok` if the body returned.
  status_error error() const {
    const auto& reason = log_->end.value().reason;
    return reason ? to_status(reason) : status_error{errc::ok, ""};
  }

  /// Returns the output of the action.
  /// @pre the action has returned.
  Out output() const {
    auto value = log_->end.value().output;
    return std::move(value).template take<Out>();
  }

  const chunk_sink& sink() const noexcept {
    return sink_;
  }

  connection_actor connection() const {
    return log_->open.value().connection;
  }

  /// Sends an input without running an actor.
  void post(In value, std::uint32_t credit = 0) {
    --log_->input_credit;
    turn_input message{payload::of(std::move(value)), credit};
    if (is_kept()) {
      message.number = log_->inputs++;
      message.reader = reader();
    }
    caf::anon_send(connection(), std::move(message));
  }

  void send(In value, std::uint32_t credit = 0) {
    post(std::move(value), credit);
    run_all();
  }

  // -- conversations ----------------------------------------------------------

  /// Sends one text message of the user to a chat agent or a session flow.
  void say(std::string text) requires std::same_as<In, ai::conversation_input> {
    say(ai::user_text(std::move(text)));
  }

  /// Sends one message, such as the answer to a question.
  void say(ai::message x) requires std::same_as<In, ai::conversation_input> {
    said_at_ = log_->chunks.size();
    send(In{std::vector<ai::message>(1, std::move(x))});
  }

  /// Returns the text of the answer since the last `say`.
  [[nodiscard]] std::string
  text() const requires std::same_as<In, ai::conversation_input> {
    std::string result;
    for (auto i = said_at_; i < log_->chunks.size(); ++i)
      if (const auto& x = log_->chunks[i].chunk)
        result += x->text();
    return result;
  }

  /// Returns the questions of tools since the last `say`.
  [[nodiscard]] std::vector<ai::part>
  questions() const requires std::same_as<In, ai::conversation_input> {
    std::vector<ai::part> result;
    for (auto i = said_at_; i < log_->chunks.size(); ++i)
      if (const auto& x = log_->chunks[i].chunk)
        for (auto& question : ai::interrupts_in(x->content))
          result.push_back(std::move(question));
    return result;
  }

  // -- credit and the end -----------------------------------------------------

  void grant(std::uint32_t chunks) {
    caf::anon_send(connection(), chunk_credit{chunks, reader()});
    run_all();
  }

  /// Closes the input without running an actor.
  void post_close() {
    tell(caf::close_atom_v, run_verb::close);
  }

  void close() {
    post_close();
    run_all();
  }

  /// Cancels the connection without running an actor.
  void post_cancel() {
    tell(cancel_atom_v, run_verb::cancel);
  }

  void cancel() {
    post_cancel();
    run_all();
  }

  /// Leaves a kept run, without running an actor.
  void post_detach() {
    caf::anon_send(run(), run_request{run_verb::leave, reader()});
  }

  /// Leaves a kept run.
  /// @returns the position from which another client continues.
  cursor detach() {
    post_detach();
    run_all();
    return position();
  }

  /// Returns the position in the log of a kept run.
  [[nodiscard]] cursor position() const {
    return {log_->open.value().attached.run, log_->next};
  }

  /// Kills the client as if its process had died, without running an actor.
  void post_death() {
    caf::anon_send_exit(sink_, caf::exit_reason::kill);
  }

  void die() {
    post_death();
    run_all();
  }

private:
  [[nodiscard]] bool is_kept() const {
    return !log_->open.value().attached.run.empty();
  }

  [[nodiscard]] std::uint32_t reader() const {
    return log_->open.value().attached.reader;
  }

  [[nodiscard]] run_actor run() const {
    return caf::actor_cast<run_actor>(connection());
  }

  template <class Atom>
  void tell(Atom what, run_verb verb) {
    if (is_kept())
      caf::anon_send(run(), run_request{verb, reader()});
    else
      caf::anon_send(connection(), what);
  }

  void run_all() {
    using scheduler = caf::scheduler::test_coordinator;
    run_until_idle(dynamic_cast<scheduler&>(system_->scheduler()));
  }

  static chunk_sink::behavior_type
  make_behavior(chunk_sink::pointer self, std::shared_ptr<log> received,
                front_desk_actor desk, open_request open_message) {
    open_message.client = self;
    self->request(desk, caf::infinite, std::move(open_message))
      .then(
        [=](const open_result& x) {
          received->open = x;
          received->next = x.attached.next;
          received->inputs = x.attached.inputs;
          received->input_credit += x.input_credit;
        },
        [=](const caf::error& reason) { received->refused = reason; });
    const auto read = [=](chunk_batch& x) {
      if (x.size > 0)
        received->batches.push_back(x.size);
      if (x.first != received->next)
        ++received->gaps;
      received->next = x.first + x.size;
      received->input_credit += x.input_credit;
      for (auto& chunk : std::move(x).template take<Stream>())
        received->chunks.push_back(std::move(chunk));
    };
    return {
      read,
      [=](input_credit x) {
        received->input_credit += x.inputs;
        ++received->credit_messages;
      },
      [=](turn_end& x) {
        read(x.last);
        ++received->next;
        x.last = {};
        received->last_turn = std::move(x);
        ++received->turns;
      },
      [=](completion& x) {
        received->end = std::move(x);
        ++received->ends;
        if (const auto& at = received->open; at && at->attached.run)
          caf::anon_send(caf::actor_cast<run_actor>(at->connection),
                         run_request{run_verb::confirm, at->attached.reader});
      },
    };
  }

  caf::actor_system* system_;
  std::shared_ptr<log> log_ = std::make_shared<log>();
  chunk_sink sink_;
  std::size_t said_at_ = 0;
};

template <class Init, class In, class Out, class Stream, class... Options>
recording_client(caf::actor_system&, const front_desk_actor&,
                 const bidi_action<Init, In, Out, Stream>&, const Options&...)
  -> recording_client<In, Out, Stream>;

} // namespace tertulia::testing
