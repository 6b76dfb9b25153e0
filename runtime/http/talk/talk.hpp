// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/bidi_action.hpp>
#include <tertulia/open.hpp>
#include <tertulia/payload.hpp>

#include <caf/actor.hpp>
#include <caf/actor_system.hpp>

#include <cstddef>
#include <memory>
#include <vector>

#include "frame.hpp"
#include "message/channel.hpp"
#include "message/redaction.hpp"
#include "routes/answer_rule.hpp"

namespace tertulia::web {

/// Terms on which a client opens a run, or attaches to one.
struct open_terms {
  payload init;
  std::vector<payload> inputs; ///< the first ones
  bool closes = false;         ///< whether nothing follows them
  open_options options;
  /// Whether only the end counts for the client: it gets no chunks, and is not
  /// woken before.
  bool answers_once = false;
  /// Whether the frames of the opening and of the ends of turns have a text.
  bool has_position_text = true;
  answer_rule answers;
  redaction redacts;
};

/// Client of a run in the name of a program elsewhere: an actor with credit,
/// which passes what the run sends on to a channel.
///
/// It stops reading while the channel holds more than the socket takes, so that
/// a slow client holds back its own run only.
///
/// @threads  all members.
/// @lifetime the destructor leaves the run: a kept one goes on, another one is
///           cancelled.
class talk {
public:
  /// Number of bytes in the channel from which on the client stops reading. As
  /// many bytes of inputs are sent before `wait_until_taken` is called.
  static constexpr std::size_t room = std::size_t{64} * 1'024;

  talk(caf::actor_system& system, const json_action& action,
       std::unique_ptr<open_terms> terms, std::shared_ptr<channel<frame>> to);

  talk(const talk&) = delete;
  talk& operator=(const talk&) = delete;

  ~talk();

  /// Sends an input. If it is not taken, a refusal says so.
  void send(payload input) const;

  /// Closes the input: no further one follows.
  void close() const;

  void cancel() const;

  /// Waits until the inputs so far were taken, by the run or by the queue of
  /// those that wait for its credit: a program that sends faster waits here.
  net::awaitable<void> wait_until_taken(net::any_io_executor executor) const;

  /// Asks for a frame when all inputs were sent to the run.
  void flush() const;

  /// Tells that the program has the end of the run, which does not need to wait
  /// for it any longer. Without this, a kept run waits for its grace period.
  /// @pre the channel has ended with an output or an error.
  void confirm() const;

  /// Leaves the run: a kept one goes on, another one is cancelled. Idempotent.
  void leave() const;

  /// Leaves the run at the end of the turn under way, at once without one. Only
  /// a conversation is known to end its turns.
  void leave_after_turn() const;

  /// Tells that everything in the channel was written.
  void drained() const;

  /// Ends the client of a run that has ended and is not kept: there is nothing
  /// to leave.
  void drop() noexcept {
    client_ = nullptr;
  }

private:
  caf::actor client_;
};

} // namespace tertulia::web
