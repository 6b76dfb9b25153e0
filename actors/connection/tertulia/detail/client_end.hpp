// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/detail/fifo.hpp>
#include <tertulia/detail/run_names.hpp>
#include <tertulia/detail/sent_inputs.hpp>
#include <tertulia/open.hpp>
#include <tertulia/turn.hpp>

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace tertulia::detail {

/// Returns the number of a new client, for `open_request::client_number`.
///
/// @threads any.
[[nodiscard]] std::uint64_t new_client_number() noexcept;

/// Client's end of one connection, without any way of waiting: the unread
/// messages and the credit of both directions. Shared by the blocking and the
/// coroutine client.
///
/// @threads not thread-safe: the owner serialises.
class client_end {
public:
  /// Next item of the stream.
  enum class arrival {
    none,     ///< Nothing has arrived.
    chunks,   ///< Chunks: see `take_chunks`.
    turn_end, ///< The end of a turn: see `take_turn_end`.
    end,      ///< The end of the stream: see `failure` and `output`.
  };

  explicit client_end(std::uint32_t chunk_window,
                      client_role role = client_role::talker) noexcept;

  /// Makes the end of a client that sends this request. The inputs that it
  /// carries cost their credit and count as sent, unless the session knows the
  /// turn that they begin.
  explicit client_end(const open_request& x);

  // -- arriving messages ------------------------------------------------------

  void on(const open_result& x);

  /// Returns whether a message with this number is for the client. Otherwise it
  /// is for another reader of the run, which is the same actor.
  [[nodiscard]] bool is_for(std::uint32_t reader) const noexcept {
    return !run() || reader == reader_;
  }

  // A message for another reader is dropped.

  void on(const input_credit& x) {
    if (accepts(x.reader))
      gain(x.inputs);
  }

  /// Keeps a batch until it is read. A gap or a repetition in the numbers, or a
  /// batch without chunks, ends the connection with `data_loss`. A batch that
  /// `has_room_for` refuses ends it with `resource_exhausted`: so the number of
  /// unread batches is bounded, whatever the sender does.
  void on(chunk_batch&& x);

  void on(turn_end&& x);

  void on(completion&& x);

  /// Ends a connection that is gone without a completion message, or that
  /// cannot be trusted. The first reason is kept.
  void on_lost(caf::error reason);

  /// Ends the connection because a message cannot be read, even if it has ended
  /// with an output.
  void reject(caf::error reason);

  // -- coming back ------------------------------------------------------------

  /// Returns whether the client can attach again after the loss of its
  /// connection: the run is kept, and its end has not arrived.
  [[nodiscard]] bool can_return() const noexcept {
    return run() && !ended_;
  }

  /// Begins to attach again. Until the answer, everything of the stream is
  /// dropped: the connection may still write to the reader that was lost.
  /// @returns the options with which to attach.
  /// @pre `can_return()`
  [[nodiscard]] open_options begin_to_return();

  /// Handles the answer to an attempt to attach again: the stream continues
  /// where it was cut off.
  /// @returns the inputs to send again, which the run does not have.
  [[nodiscard]] std::vector<turn_input> on_returned(const open_result& x);

  /// Returns inputs to send again for which there was no credit before.
  [[nodiscard]] std::vector<turn_input> due_inputs();

  /// Returns whether a turn that was heard is taken again: nobody reads it.
  [[nodiscard]] bool is_skipping() const noexcept {
    return heard_turns_ > 0;
  }

  /// Returns whether inputs wait to be sent again.
  [[nodiscard]] bool has_unsent() const noexcept {
    return inputs_.has_unsent();
  }

  /// Makes the client keep its inputs until a store contains them, so that it
  /// can open its session again if its run is lost.
  /// @pre before the first message after the answer to the opening.
  void keep_stored_inputs() noexcept {
    keeps_stored_ = true;
  }

  /// Returns whether the session can be opened again if its run is lost.
  [[nodiscard]] bool can_reopen() const noexcept {
    return waits_for_store() && role_ == client_role::talker && !ended_;
  }

  /// Returns the options that attach to a new run of the session, or open it.
  /// @param first the options with which the client has opened it.
  /// @pre `can_reopen()`
  [[nodiscard]] open_options begin_to_reopen(const open_options& first);

  /// Handles the answer to an attempt to open the session again. What was read
  /// of the turn that was cut off comes again; a turn that has ended unheard
  /// has an end without chunks; a turn that was heard and is taken again is not
  /// read twice.
  /// @returns the inputs to send again, which the session does not contain.
  [[nodiscard]] std::vector<turn_input> on_reopened(const open_result& x);

  /// Returns whether the input was closed.
  [[nodiscard]] bool closed() const noexcept {
    return closed_;
  }

  /// Returns whether the client has cancelled.
  [[nodiscard]] bool cancelled() const noexcept {
    return cancelled_;
  }

  // -- reading ----------------------------------------------------------------

  [[nodiscard]] arrival next() const noexcept;

  /// @pre `next() == arrival::chunks`
  chunk_batch take_chunks();

  /// Takes the end of a turn: `last_snapshot` and `finish_reason` are then its.
  /// @pre `next() == arrival::turn_end`
  void take_turn_end();

  /// Drops everything unread.
  void drop_unread();

  /// Returns whether the connection has ended, even if there is more to read.
  [[nodiscard]] bool ended() const noexcept {
    return ended_;
  }

  /// Returns the session of a conversation, once the connection is open.
  [[nodiscard]] const session_id& session() const noexcept {
    return names_.session();
  }

  /// Returns the id of the trace of the connection, once it is open; empty if
  /// it is not traced.
  [[nodiscard]] const std::string& trace_id() const noexcept {
    return names_.trace_id();
  }

  /// Returns whether a turn was under way when the connection was opened.
  [[nodiscard]] bool opened_in_turn() const noexcept {
    return opened_in_turn_;
  }

  /// Returns the progress of the turn that the client has named.
  [[nodiscard]] turn_progress turn_found() const noexcept {
    return turn_found_;
  }

  /// Returns the snapshot of the last end of a turn that was taken, before that
  /// the one from which the conversation continues.
  [[nodiscard]] const snapshot_id& last_snapshot() const noexcept {
    return names_.last_snapshot();
  }

  /// Returns the reason of the last end of a turn that was taken.
  [[nodiscard]] std::optional<ai::finish_reason>
  finish_reason() const noexcept {
    return finish_reason_;
  }

  /// Returns the run, if it is a kept one: it outlives this client.
  [[nodiscard]] const run_id& run() const noexcept {
    return names_.run();
  }

  /// Returns the number of the client among the readers of a kept run.
  [[nodiscard]] std::uint32_t reader() const noexcept {
    return reader_;
  }

  /// Returns the number in the log of what `next` describes.
  [[nodiscard]] std::uint64_t position() const noexcept {
    return read_;
  }

  /// Returns why there is no output; none if there is one.
  /// @pre `ended()`
  [[nodiscard]] const caf::error& failure() const noexcept {
    return failure_;
  }

  /// Returns the output of the body.
  /// @pre `ended()` and no `failure()`
  [[nodiscard]] const payload& output() const noexcept {
    return output_;
  }

  /// Returns the state of a failed conversation without a store, as of its last
  /// completed turn; empty otherwise.
  [[nodiscard]] const payload& last_state() const noexcept {
    return state_;
  }

  /// Adds `last_state` to the details of the failure. Not for the client in a
  /// body: an error that the body does not catch would carry the state to the
  /// body's own client.
  void add_state_to_failure();

  // -- credit for chunks ------------------------------------------------------

  /// Counts chunks or ends of turns that have been processed.
  void count_consumed(std::uint32_t count) noexcept {
    consumed_ += count;
  }

  /// Returns the credit to send to the connection now, 0 if none is due.
  /// @param waiting whether the reader waits: a rendezvous asks for one chunk.
  std::uint32_t credit_due(bool waiting) noexcept;

  /// Returns all credit that can be granted, for a message that is sent anyway.
  std::uint32_t take_credit() noexcept;

  // -- sending ----------------------------------------------------------------

  /// Returns why nothing can be sent any more: a close or cancel by the client,
  /// or the end of the connection. None while inputs can be sent.
  [[nodiscard]] caf::error send_error() const;

  /// Returns whether inputs can be sent; `send_error` is none then.
  [[nodiscard]] bool can_send() const noexcept {
    return !cancelled_ && !closed_ && !ended_;
  }

  [[nodiscard]] bool has_input_credit() const noexcept {
    return input_credit_ > 0 && !has_unsent();
  }

  /// @pre `has_input_credit()`
  void spend_input_credit() noexcept {
    --input_credit_;
  }

  /// Takes the credit of an input back that is not sent.
  void return_input_credit() noexcept {
    ++input_credit_;
  }

  /// Returns the message for an input, with all credit that can be granted, and
  /// counts it.
  [[nodiscard]] turn_input message_for(payload value);

  /// Returns the number of inputs that were sent but not taken by the body. All
  /// of them if the completion message is missing, 0 before the end.
  [[nodiscard]] std::uint64_t unread_inputs() const noexcept;

  /// Records the half-close.
  /// @returns false if the input was closed before.
  bool close() noexcept {
    return !std::exchange(closed_, true);
  }

  /// Records that the client leaves a kept run: nothing more is read.
  /// @returns false if the run has ended for it.
  bool leave();

  /// Records the cancel.
  /// @returns false if there is nothing left to cancel.
  bool cancel() noexcept {
    return !ended_ && !std::exchange(cancelled_, true);
  }

private:
  using event = std::variant<chunk_batch, turn_end>;

  /// First number of the chunks of an end of a turn that has not arrived.
  static constexpr auto unnumbered = std::numeric_limits<std::uint64_t>::max();

  /// Returns whether a message with this number is taken.
  [[nodiscard]] bool accepts(std::uint32_t reader) const noexcept {
    return !ended_ && !returning_ && is_for(reader);
  }

  /// Adds credit for inputs, which acknowledges as many.
  void gain(std::uint32_t inputs);

  /// Returns the number of inputs that a run has and has not taken.
  static std::uint64_t untaken_in(const attach_result& x) noexcept {
    return x.inputs > x.taken ? x.inputs - x.taken : 0;
  }

  /// Returns whether an input is kept until the store contains it, not only
  /// until the body has taken it.
  [[nodiscard]] bool waits_for_store() const noexcept {
    return keeps_stored_ && is_stored_;
  }

  /// Returns the messages that send the kept inputs again.
  [[nodiscard]] std::vector<turn_input> resend(const open_result& x);

  /// Drops what is unread of the turn under way.
  void drop_open_turn();

  /// Counts what has arrived and is not read.
  void skip(std::uint32_t count);

  /// Counts chunks or ends of turns that are read.
  void count_read(std::uint32_t count) noexcept;

  /// Counts chunks or ends of turns that have arrived.
  void count_arrived(std::uint32_t count) noexcept;

  /// Returns whether the connection had credit for `count` more chunks, where
  /// an end of a turn counts as a chunk.
  [[nodiscard]] bool has_room_for(std::uint32_t count) const noexcept;

  [[nodiscard]] caf::error overrun_error() const;

  /// Returns whether this is the number that follows. Any other one ends the
  /// connection.
  [[nodiscard]] bool is_next(std::uint64_t number);

  std::uint32_t window_;
  client_role role_;
  bool demand_ = false;            // rendezvous: for a chunk that is to come
  std::uint32_t unread_count_ = 0; // arrived and not read
  std::uint32_t consumed_ = 0;     // processed; credit not yet granted
  std::uint32_t held_ = 0;         // arrived; credit not yet granted
  std::uint32_t input_credit_ = 0;
  std::uint32_t carried_ = 0; // inputs of an opening that is not answered
  bool closed_ = false;
  bool cancelled_ = false;
  bool ended_ = false;
  bool returning_ = false;
  bool keeps_stored_ = false; // inputs, until a store contains them
  bool is_stored_ = false;
  caf::timespan grace_{0};         // of the run
  std::uint64_t first_turn_ = 0;   // as of the opening
  std::uint64_t first_inputs_ = 0; // as of the opening
  std::uint64_t turn_ = 0;         // index of the turn that arrives
  std::uint64_t heard_turns_ = 0;  // that are taken again and not read twice
  std::uint64_t earlier_ = 0; // unread chunks and ends of turns of a lost run
  std::uint64_t next_ = 0;    // number in the log of what arrives next
  std::uint64_t read_ = 0;    // of what is read next
  run_names names_;
  std::uint32_t reader_ = 0;
  sent_inputs inputs_;
  std::uint64_t foreign_inputs_ = 0; // of another client, not taken by the run
  std::uint64_t stored_inputs_ = 0;  // at least
  std::uint64_t taken_inputs_ = 0;   // from the completion message
  turn_progress turn_found_ = turn_progress::not_begun;
  bool opened_in_turn_ = false;
  std::optional<ai::finish_reason> finish_reason_;
  fifo<event> unread_;
  payload output_;
  payload state_;
  caf::error failure_;
};

/// Returns the error for a client whose connection actor is gone without a
/// completion message.
///
/// `unavailable` for a node that cannot be reached, `internal` for an unhandled
/// exception, `aborted` for a kill and everything else.
caf::error lost_connection(const caf::error& exit_reason);

} // namespace tertulia::detail
