// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/detail/client_end.hpp>
#include <tertulia/detail/fifo.hpp>
#include <tertulia/detail/return_path.hpp>
#include <tertulia/open.hpp>
#include <tertulia/protocol.hpp>
#include <tertulia/status.hpp>

#include <caf/actor_addr.hpp>
#include <caf/message_handler.hpp>
#include <caf/scheduled_actor.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace tertulia::detail {

class action;

/// Type-independent part of an `actor_client`: speaks the protocol for its
/// actor, which is the sink of the connection.
///
/// @threads  only on its actor.
/// @lifetime in the state of its actor; its destructor cancels an unfinished
///           action.
class actor_connection {
public:
  explicit actor_connection(caf::scheduled_actor* self) noexcept
    : self_(self) {}

  actor_connection(const actor_connection&) = delete;
  actor_connection& operator=(const actor_connection&) = delete;

  virtual ~actor_connection();

  /// Opens a connection.
  /// @param action the action if it belongs to this process: inputs are then
  ///             checked before they are sent.
  /// @param way    for an action of another node: the client of a kept run
  ///             comes back by it.
  /// @errors throws `failed_precondition` while another connection is open, and
  ///         the error of a first input that the action does not accept.
  void open(const front_desk_actor& desk, open_request&& request,
            std::shared_ptr<const action> action,
            std::shared_ptr<way_back> way = nullptr);

  // -- messages ---------------------------------------------------------------

  /// Handle a message of the connection, and ignore one of another connection.
  /// @returns for a `completion` the answer, which is an error if the client
  ///          looks for its node.
  void handle(chunk_batch& x);
  void handle(const input_credit& x);
  void handle(turn_end& x);
  [[nodiscard]] caf::result<void> handle(completion& x);

  /// Returns handlers of all messages of a connection, for the behavior of the
  /// actor: `return handlers();` or `return handlers().or_else(...);`.
  [[nodiscard]] caf::message_handler handlers();

  // -- what the client does ---------------------------------------------------

  [[nodiscard]] caf::scheduled_actor* self() const noexcept {
    return self_;
  }

  /// Returns whether there is a connection that has not ended, open or about to
  /// be opened.
  [[nodiscard]] bool is_open() const noexcept {
    return end_.has_value();
  }

  /// Returns whether an input would be sent at once.
  [[nodiscard]] bool has_credit() const;

  /// Closes the input: no further input follows. Inputs that wait for credit
  /// are sent before. Idempotent.
  void close();

  /// Cancels the action, which then ends with `cancelled`; inputs that wait for
  /// credit are dropped. Idempotent.
  void cancel();

  /// Stops reading: what arrives waits, and once it fills the window the body
  /// waits as well. A batch of chunks that is being passed on is completed.
  void pause() noexcept {
    paused_ = true;
  }

  /// Reads again, and first what has arrived meanwhile. Inside `on_chunk` and
  /// the other functions it takes effect when they return.
  void resume();

  /// Leaves a kept run, which goes on; cancels another action. No function is
  /// called for it any more, and another connection can be opened.
  /// @returns `position`
  cursor detach();

  /// Returns the position in the log of a kept run, from which `with_cursor`
  /// continues: everything before it was passed to this client. Also in
  /// `on_output` and `on_error`.
  [[nodiscard]] cursor position() const;

  /// Returns the session of a conversation, once the connection is open; also
  /// in `on_output` and `on_error`. Empty for other actions.
  [[nodiscard]] const session_id& session() const noexcept {
    return session_;
  }

  /// Returns the id of the trace of the connection, as `session`; empty if it
  /// is not traced.
  [[nodiscard]] const std::string& trace_id() const noexcept {
    return trace_id_;
  }

  /// Returns the snapshot with the state at the end of the last turn, before
  /// that the one from which the conversation continues; empty without one. It
  /// is the last good state if a turn fails.
  [[nodiscard]] const snapshot_id& last_snapshot() const noexcept {
    return last_snapshot_;
  }

  /// As `connection::turn_found`, once the connection is open.
  [[nodiscard]] turn_progress turn_found() const noexcept {
    return end_ ? end_->turn_found() : turn_progress::not_begun;
  }

  /// As `connection::opened_in_turn`, once the connection is open.
  [[nodiscard]] bool opened_in_turn() const noexcept {
    return end_ && end_->opened_in_turn();
  }

  /// Returns the reason for which the last turn ended; empty if the program
  /// gave none.
  [[nodiscard]] std::optional<ai::finish_reason>
  finish_reason() const noexcept {
    return finish_reason_;
  }

  /// Returns the number of inputs that wait for credit.
  [[nodiscard]] std::size_t unsent_inputs() const noexcept {
    return waiting_.size();
  }

  /// Returns the number of inputs that the body had not read when the last
  /// connection ended, including those that were not sent.
  [[nodiscard]] std::uint64_t unread_inputs() const noexcept {
    return unread_inputs_;
  }

protected:
  void send_input(payload value);

  /// Returns the number of connections so far: it tells whether a callback has
  /// detached the client.
  [[nodiscard]] std::uint64_t number() const noexcept {
    return number_;
  }

  /// Sets the number of chunks that have arrived and were not passed on.
  void set_unread(std::size_t chunks) noexcept {
    unread_ = chunks;
  }

  /// Ends the connection because a message cannot be read.
  void reject(caf::error reason);

  /// Called when the connection is open, with the answer to the opening.
  virtual void on_open(const open_result&) {}

  /// Called when an input would be sent at once; again after each input that it
  /// sends, until the credit is spent.
  virtual void on_credit() {}

  /// Called when inputs have waited for credit, and all of them are sent.
  virtual void on_inputs_sent() {}

  /// Called at the end of a turn.
  virtual void on_turn_end() {}

  /// Called if the connection does not open, or ends without an output. It has
  /// ended then, and another one may be opened. By default the actor ends with
  /// the error.
  virtual void on_error(const status_error& x);

  /// State of a failed conversation without a store; empty otherwise.
  [[nodiscard]] const payload& state_of_last() const noexcept {
    return last_state_;
  }

private:
  /// Called when the end has arrived, which is passed on later: tells a kept
  /// run that it does not need to wait for this client.
  virtual void confirm_end(const connection_actor& run, const client_end& end);

  virtual void read(chunk_batch x) = 0;
  virtual void read(payload output) = 0;

  [[nodiscard]] bool is_from_peer() const;
  void on_opened(const open_result& x);

  using from_peer
    = std::variant<chunk_batch, input_credit, turn_end, completion>;

  /// Messages of one sender, for one reader, that have come before the answer
  /// to an opening on another node: that comes by another way. They may be
  /// those of another client of this actor.
  struct early_messages {
    caf::actor_addr from;
    std::uint32_t reader = 0;
    std::uint64_t cost = 0; ///< in credit for chunks
    std::vector<from_peer> content;
  };

  /// Keeps a copy of such a message, unless its connection has sent more than
  /// one that is new to this client can.
  template <class Message>
  void keep_early(const Message& x);

  /// Takes a message of the connection, or keeps it until that is open.
  template <class Message>
  void arrive(Message& x);

  /// Takes a message of the connection that is open.
  void take(from_peer x);

  /// Keeps the inputs of a request that attaches until it is answered.
  void hold_inputs(open_request& x);

  /// Drops the inputs of the opening that wait: the session knows their turn.
  void drop_first_inputs();

  /// Sends a request to a desk, with a time limit.
  template <class OnOpened, class OnError>
  void ask(const caf::actor& desk, open_request&& question,
           caf::timespan within, OnOpened on_opened, OnError on_error);

  /// Looks for the run of a lost connection again.
  /// @returns false if it cannot be there any more.
  bool begin_to_return(const caf::error& reason);

  /// Sends a request on the way back. Late answers are ignored, or declined.
  template <class Answer, class OnAnswer, class OnError>
  void ask_again(const caf::actor& who, caf::message question,
                 OnAnswer on_answer, OnError on_error);

  void look_for_desk(const caf::error& reason);
  void ask_desk();
  void on_returned(const open_result& x);
  void fail_to_return(const caf::error& reason);
  void lose(caf::error reason);
  void send_again(std::vector<turn_input> inputs);
  void watch(const connection_actor& peer);
  void proceed();
  void read_all();
  bool read_next();
  void send_waiting();
  void grant();
  void finish();

  caf::scheduled_actor* self_;
  std::uint64_t number_ = 0; ///< of connections
  connection_actor peer_;    ///< null until the connection is open
  std::optional<client_end> end_;
  std::shared_ptr<const action> action_;
  std::unique_ptr<return_path> path_; ///< null if it cannot come back
  /// Inputs that wait for credit, at most a window.
  fifo<payload> waiting_;
  /// Number of those at its begin that belong to the opening.
  std::size_t first_waiting_ = 0;
  std::size_t window_ = 1;
  std::vector<early_messages> early_;
  /// Cost of what a connection can send before it hears of this client.
  std::uint64_t early_limit_ = 0;
  bool closing_ = false;
  bool paused_ = false;
  bool reading_ = false; ///< inside `read_all`
  /// Whether the connection can send nothing more.
  bool peer_has_ended_ = false;
  std::uint64_t sent_ = 0;
  session_id session_;
  std::string trace_id_;
  snapshot_id last_snapshot_;
  std::optional<ai::finish_reason> finish_reason_;
  std::uint64_t unread_inputs_ = 0;
  cursor position_;        ///< of the last connection
  std::size_t unread_ = 0; ///< chunks of the batch that is read
  payload last_state_;
  /// Connections whose end this actor will learn of.
  std::vector<caf::actor_addr> watched_;
};

} // namespace tertulia::detail
