// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/open.hpp>
#include <tertulia/turn.hpp>

#include <cstdint>
#include <deque>
#include <optional>
#include <utility>
#include <variant>

namespace tertulia::detail {

/// A client's side of one connection, without any way of waiting: what arrived
/// and was not read yet, and the credit of both directions. What the blocking
/// and the coroutine client have in common.
///
/// @threads none of its own: the owner serialises.
class client_end {
public:
  /// What comes next in the stream.
  enum class arrival {
    none,     ///< Nothing yet.
    chunks,   ///< `take_chunks` has some.
    turn_end, ///< The turn is over; `take_turn_end` goes on to the next.
    over,     ///< Nothing will come any more: see `failure` and `output`.
  };

  explicit client_end(std::uint32_t chunk_window) noexcept
    : window_(chunk_window) {}

  // -- what arrives -----------------------------------------------------------

  void on(const opened& x) noexcept {
    input_credit_ = x.input_credit;
  }

  void on(const input_credit& x) noexcept {
    input_credit_ += x.inputs;
  }

  /// A gap or a repetition in the numbers, or a batch without chunks, ends the
  /// connection with `data_loss`; more than there was credit for ends it with
  /// `resource_exhausted`: so as many batches are unread at the most as there
  /// are chunks in a window, whoever sends them.
  void on(chunk_batch&& x);

  void on(const turn_end& x);

  void on(finished&& x);

  /// The connection is gone without a last word, or cannot be trusted.
  /// Whatever ended it first stays the reason.
  void lost(caf::error reason);

  /// What was said cannot be read: that is the end, even if the last word was
  /// an output.
  void reject(caf::error reason);

  // -- reading ----------------------------------------------------------------

  [[nodiscard]] arrival next() const noexcept;

  /// @pre `next() == arrival::chunks`
  chunk_batch take_chunks();

  /// @pre `next() == arrival::turn_end`
  void take_turn_end();

  /// Drops everything that was not read.
  void drop_unread();

  /// Whether the last word was said, read up to there or not.
  [[nodiscard]] bool over() const noexcept {
    return over_;
  }

  /// Why there is no output; none if there is one.
  /// @pre `over()`
  [[nodiscard]] const caf::error& failure() const noexcept {
    return failure_;
  }

  /// What the body returned.
  /// @pre `over()` and no `failure()`
  [[nodiscard]] const payload& output() const noexcept {
    return output_;
  }

  /// What the state of a conversation without a store was after its last turn
  /// that ended, if it failed then; empty otherwise.
  [[nodiscard]] const payload& last_state() const noexcept {
    return state_;
  }

  /// Adds that state to the details of the failure. Not for a body, whose own
  /// client would get it with an error that the body lets pass.
  void explain_failure();

  // -- credit for chunks ------------------------------------------------------

  /// Notes that so many chunks, or ends of turns, have been dealt with.
  void consumed(std::uint32_t count) noexcept {
    consumed_ += count;
  }

  /// Returns the credit to send to the connection now, 0 for none yet.
  /// @param waiting the reader waits: a rendezvous asks for one chunk.
  std::uint32_t credit_due(bool waiting) noexcept;

  /// Returns all credit that can be granted: for a message that goes anyway.
  std::uint32_t take_credit() noexcept;

  // -- sending ----------------------------------------------------------------

  /// Why nothing can be sent any more: what the client did, or what the
  /// connection has ended for; none while it can.
  [[nodiscard]] caf::error refusal() const;

  [[nodiscard]] bool has_input_credit() const noexcept {
    return input_credit_ > 0;
  }

  /// @pre `has_input_credit()`
  void spend_input_credit() noexcept {
    --input_credit_;
  }

  /// Notes that an input went to the connection.
  void sent() noexcept {
    ++inputs_;
  }

  /// How many of the inputs that were sent the body has not taken, once it is
  /// over; all of them if the last word is missing, 0 before the end.
  [[nodiscard]] std::uint64_t unread_inputs() const noexcept {
    return over_ && inputs_ > taken_inputs_ ? inputs_ - taken_inputs_ : 0;
  }

  /// Notes the half-close.
  /// @returns false if it was closed before.
  bool close() noexcept {
    return !std::exchange(closed_, true);
  }

  /// Notes the cancel.
  /// @returns false if there is nothing to cancel any more.
  bool cancel() noexcept {
    return !over_ && !std::exchange(cancelled_, true);
  }

private:
  using event = std::variant<chunk_batch, turn_end>;

  /// Notes that chunks, or ends of turns, have arrived.
  void spent(std::uint32_t count) noexcept;

  /// Whether so much more can have had credit.
  [[nodiscard]] bool has_room_for(std::uint32_t count) const noexcept;

  [[nodiscard]] caf::error overrun() const;

  std::uint32_t window_;
  std::int32_t granted_ = 0;   // at a rendezvous: what it may still send;
                               // below zero if it has sent more
  std::uint32_t held_ = 0;     // arrived and not taken
  std::uint32_t consumed_ = 0; // what it may send besides
  std::uint32_t input_credit_ = 0;
  bool closed_ = false;
  bool cancelled_ = false;
  bool over_ = false;
  std::uint64_t next_chunk_ = 0;
  std::uint64_t inputs_ = 0;
  std::uint64_t taken_inputs_ = 0; // as the last word says
  std::deque<event> unread_;
  payload output_;
  payload state_;
  caf::error failure_;
};

/// The type of the state in the output of a conversation.
template <class Out>
struct state_of {};

template <class Out>
requires requires(Out& x) {
  x.state;
}
struct state_of<Out> {
  using type = decltype(Out::state);
};

template <>
struct state_of<json> {
  using type = json;
};

/// An output that may be one of a conversation.
template <class Out>
concept has_state = requires {
  typename state_of<Out>::type;
};

/// Returns the state that came to a client with an error.
/// @errors throws `invalid_argument` for one of another shape.
template <has_state Out>
std::optional<typename state_of<Out>::type> state_in(payload x) {
  if (!x)
    return std::nullopt;
  return std::move(x).template take<typename state_of<Out>::type>();
}

/// Says for a client why its connection actor is gone without a last word.
///
/// `unavailable` for a node that cannot be reached, `internal` for an unhandled
/// exception, `aborted` for a kill and everything else.
caf::error lost_connection(const caf::error& exit_reason);

} // namespace tertulia::detail
