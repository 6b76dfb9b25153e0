// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/detail/environment.hpp>
#include <tertulia/detail/nested_connection.hpp>
#include <tertulia/detail/withheld_error.hpp>

#include <string>
#include <utility>

#include "connection_state.hpp"
#include <spdlog/logger.h>

// End of a connection: lost actors and the completion message.

namespace tertulia::detail {

namespace {

/// Returns the error of a conversation that has lost one of its actors.
caf::error lost_part(const char* what, const caf::error& exit_reason) {
  return fail(errc::aborted, "the " + std::string{what}
                               + " was lost: " + caf::to_string(exit_reason));
}

/// Returns whether an operator should look into the error: it was not caused by
/// the choice of a client or a body.
bool is_fault(errc code) noexcept {
  return code == errc::internal || code == errc::aborted
         || code == errc::data_loss;
}

} // namespace

void connection_state::on_down(const caf::down_msg& x) {
  if (client_ && x.source == client_.address()) {
    heard_ = true;
    return abort(fail(errc::cancelled, "the client is gone"));
  }
  if (session_ && x.source == session_.address()) {
    session_ = nullptr;
    if (leased_)
      self_->send(env_->leases, release_atom_v, x.source);
    if (told_)
      return;
    if (concluded_)
      return body_ ? deliver_last_word() : deliver_refusal();
    return abort(lost_part("session", x.reason));
  }
  if (responder_ && x.source == responder_.address()) {
    responder_ = nullptr;
    sink_ = client_;
    if (!told_)
      return abort(lost_part("responder", x.reason));
    if (x.reason) // it did not forward the completion message
      self_->send(
        sink_,
        finished{{}, lost_part("responder", x.reason), out.sent(), in.taken()});
    return quit_if_done();
  }
  abort_waits_for(x.source,
                  fail(errc::unavailable, "nobody is there to answer: "
                                            + caf::to_string(x.reason)));
  for (auto* candidate : nested_)
    if (candidate->peer().address() == x.source)
      candidate->lost(lost_connection(x.reason));
  settle();
}

void connection_state::conclude() {
  if (!concluded_) {
    flush();
    auto reason = root.reason();
    payload output;
    if (!reason) {
      try {
        output = access::result(*body_);
        if (remote_)
          output = output.sealed();
      } catch (...) {
        output = {}; // its encoding would fail and lose the error
        reason = current_exception_to_error();
      }
    }
    say_last_word(std::move(output), std::move(reason));
  }
  quit_if_done();
}

void connection_state::say_last_word(payload output, caf::error reason) {
  concluded_ = true;
  output_ = std::move(output);
  reason_ = std::move(reason);
  if (!reason_ || !session_ || leased_)
    return end_session();
  // Only the client has the state: it must not lose the results of the
  // completed turns. The request has no time-out: a session without a store
  // answers at once, and CAF answers for a dead one.
  self_->request(session_, caf::infinite, caf::reset_atom_v)
    .then(
      [this](const session_view& x) {
        keep_state(x);
        end_session();
      },
      [this](const caf::error&) { end_session(); });
}

void connection_state::keep_state(const session_view& x) {
  try {
    output_ = action_->conversation()->client_state(x.content);
    if (remote_)
      output_ = output_.sealed();
  } catch (...) {
    output_ = {}; // a state without JSON cannot be sent
  }
}

void connection_state::end_session() {
  if (told_)
    return; // the session was lost meanwhile
  if (session_)
    self_->send_exit(session_, caf::exit_reason::kill);
  // A client that has received the completion message can open the session
  // again. So the message is sent after the session has ended, when nothing
  // that the session started can follow.
  if (!session_ || !leased_)
    deliver_last_word();
}

void connection_state::deliver_last_word() {
  told_ = true;
  if (reason_) {
    const auto status = to_status(reason_);
    trace.set_error(status.code(), status.message());
    if (is_fault(status.code()))
      env_->log->warn("{} failed: {}", action_->info.key,
                      to_string(status.code()));
    reason_ = for_client(std::move(reason_));
  }
  trace.end();
  self_->send(sink_,
              finished{std::move(output_), reason_, out.sent(), in.taken()});
  quit_if_done();
}

caf::error connection_state::for_client(caf::error reason) {
  if (!remote_ || !reason)
    return reason;
  const auto status = to_status(reason);
  if (!status.is_unexpected())
    return reason;
  if (!withheld_ || withheld_->text != status.message())
    withheld_ = {status.message(),
                 to_error(withhold(status, action_->info.key, *env_->log))};
  return withheld_->instead;
}

void connection_state::quit_if_done() {
  // A client must receive the completion message before the down message of
  // this actor. The responder forwards the completion message, so it ends
  // first.
  if (!told_ || !ended_ || responder_)
    return;
  if (heard_)
    return self_->quit();
  if (!std::exchange(is_asking_, true))
    quit_once_heard();
}

void connection_state::quit_once_heard() {
  // Between nodes the down message of an actor can overtake its last messages:
  // if the actor is already dead when it is monitored, CAF sends the down
  // message at once. So the client first gets a request that CAF itself answers
  // in every actor.
  const auto quit = [this] { self_->quit(); };
  self_
    ->request(caf::actor_cast<caf::actor>(client_), hearing_limit_,
              caf::sys_atom::value, caf::get_atom::value, std::string{"info"})
    .then([quit](caf::ok_atom, const std::string&, const caf::strong_actor_ptr&,
                 const std::string&) { quit(); },
          [quit](const caf::error&) { quit(); });
}

} // namespace tertulia::detail
