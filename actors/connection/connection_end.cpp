// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/detail/environment.hpp>
#include <tertulia/detail/nested_connection.hpp>
#include <tertulia/detail/send_here.hpp>
#include <tertulia/detail/span_failure.hpp>
#include <tertulia/detail/withheld_error.hpp>
#include <tertulia/store.hpp>

#include <string>
#include <utility>

#include "connection_state.hpp"
#include <fmt/format.h>
#include <spdlog/logger.h>

// End of a connection: lost actors and the completion message.

namespace tertulia::detail {

namespace {

/// Returns the error of a conversation that has lost one of its actors.
caf::error lost_actor_error(const char* what, const caf::error& exit_reason) {
  return fail(errc::aborted, fmt::format("the {} was lost: {}", what,
                                         caf::to_string(exit_reason)));
}

/// Returns the text of an exit reason; an actor may quit with an error.
std::string death_text(const caf::error& exit_reason) {
  return exit_reason ? to_status(exit_reason).message() : "it has finished";
}

/// Returns whether an operator should look into the error: it was not caused by
/// the choice of a client or a body.
bool is_fault(errc code) noexcept {
  return code == errc::internal || code == errc::aborted
         || code == errc::data_loss;
}

} // namespace

void connection_state::on_down(const caf::down_msg& x) {
  if (log_.reads(x.source))
    return on_reader_lost(x.source);
  if (session_ && x.source == session_.address()) {
    session_ = nullptr;
    return release_lease(lost_actor_error("session", x.reason));
  }
  if (responder_ && x.source == responder_.address()) {
    responder_ = nullptr;
    return abort(lost_actor_error("responder", x.reason));
  }
  if (snapshots_)
    snapshots_->withdraw(x.source);
  abort_waits_for(x.source,
                  fail(errc::unavailable,
                       fmt::format("the actor was lost before it answered: {}",
                                   death_text(x.reason))),
                  x.reason);
  for (auto* candidate : nested_)
    if (candidate->peer().address() == x.source)
      candidate->on_lost(lost_connection(x.reason));
  drain();
}

void connection_state::release_lease(caf::error loss) {
  const auto go_on = [this, loss = std::move(loss)] {
    if (phase_ >= phase::recording)
      return;
    if (phase_ == phase::concluded)
      return body_ ? record_end() : send_refusal();
    abort(loss);
  };
  if (!leased_)
    return go_on();
  const auto& store = conversation().policy.store;
  release_lease_request release{lease_holder{self_}};
  if (store.node() == self_->node()) {
    send_here(store, std::move(release));
    return go_on();
  }
  // The client may open the session through another node, and its request
  // could overtake this one.
  time_out_is_set_ = true;
  self_->request(store, max_release_wait, std::move(release))
    .then([go_on](bool) { go_on(); }, [go_on](const caf::error&) { go_on(); });
}

void connection_state::conclude() {
  close_letters();
  if (phase_ == phase::active) {
    flush();
    auto reason = root.reason();
    payload output;
    if (!reason) {
      try {
        output = access::result(*body_);
        if (remote_ && !run_)
          output = output.sealed();
      } catch (...) {
        output = {}; // its encoding would fail and lose the error
        reason = current_exception_to_error();
      }
    }
    set_outcome(std::move(output), std::move(reason));
  }
  quit_if_done();
}

void connection_state::set_outcome(payload output, caf::error reason) {
  phase_ = phase::concluded;
  output_ = std::move(output);
  reason_ = std::move(reason);
  was_ended_ = root.cancelled();
  if (!reason_ || !session_ || leased_)
    return end_session();
  // Only the client has the state: it must not lose the results of the
  // completed turns. The request has no time-out: a session without a store
  // answers at once, and CAF answers for a dead one.
  self_->request(session_, caf::infinite, caf::reset_atom_v)
    .then(
      [this](const session_view& x) {
        set_output_state(x);
        end_session();
      },
      [this](const caf::error&) { end_session(); });
}

void connection_state::set_output_state(const session_view& x) {
  try {
    output_ = action_->conversation()->client_state(x.content);
    if (remote_ && !run_)
      output_ = output_.sealed();
  } catch (...) {
    output_ = {}; // a state without JSON cannot be sent
  }
}

void connection_state::end_session() {
  if (phase_ >= phase::recording)
    return; // the session was lost meanwhile
  kill_session();
  // A client that has received the completion message can open the session
  // again. So the message is sent after the session has ended, when nothing
  // that the session started can follow.
  if (!session_ || !leased_)
    record_end();
}

void connection_state::record_end() {
  if (!run_ || !run_->record) {
    if (run_ && run_->entry)
      run_->entry->end(final_status(), error_for_remote(reason_));
    return send_completion();
  }
  phase_ = phase::recording;
  run_->record->end(final_status(), reason_, run_->can_ask);
  go_on_when_recorded();
}

void connection_state::go_on_when_recorded() {
  const auto& record = *run_->record;
  if (record.was_aborted()) {
    output_ = {};
    reason_ = fail(errc::aborted, "the run was aborted");
    was_ended_ = true;
  }
  if (run_->is_stopping && std::exchange(run_->is_expired, false))
    return send_completion();
  if (record.is_finished())
    return send_completion();
  if (run_->is_stopping)
    wait_for_client(max_confirmation_wait_on_stop);
}

void connection_state::kill_session() {
  if (session_)
    self_->send_exit(session_, caf::exit_reason::kill);
  if (!responder_)
    return;
  self_->demonitor(responder_.address());
  self_->send_exit(std::exchange(responder_, nullptr), caf::exit_reason::kill);
}

void connection_state::send_completion() {
  phase_ = phase::completed;
  answer_turn_waiters(); // also for an actor that was killed
  if (reason_) {
    const auto status = to_status(reason_);
    note_failure(trace, status);
    if (is_fault(status.code()))
      env_->log->warn("{} failed: {}", action_->info()->key,
                      to_string(status.code()));
    if (!run_)
      reason_ = client_error(std::move(reason_));
  }
  trace.end();
  log_.finish(
    completion{std::move(output_), reason_, out.sent(), inputs_taken()});
  quit_if_done();
}

caf::error connection_state::client_error(caf::error reason) {
  return remote_ ? error_for_remote(std::move(reason)) : reason;
}

caf::error connection_state::error_for_remote(caf::error reason) {
  if (!reason)
    return reason;
  const auto status = to_status(reason);
  if (!status.is_unexpected())
    return reason;
  if (!hidden_error_ || hidden_error_->text != status.message())
    hidden_error_ = std::make_unique<hidden_error>(hidden_error{
      status.message(),
      to_error(withhold(status, action_->info()->key, *env_->log))});
  return hidden_error_->replacement;
}

void connection_state::quit_if_done() {
  if (phase_ == phase::recording)
    return go_on_when_recorded();
  if (phase_ < phase::completed || !body_ended_)
    return;
  if (run_)
    return quit_kept_if_done();
  if (delivery_confirmed_)
    return self_->quit();
  if (std::exchange(phase_, phase::confirming) != phase::confirming)
    quit_after_confirmation();
}

void connection_state::quit_after_confirmation() {
  // Between nodes the down message of an actor can overtake its last messages:
  // if the actor is already dead when it is monitored, CAF sends the down
  // message at once. So the client first gets a request that CAF itself answers
  // in every actor.
  const auto quit = [this] { self_->quit(); };
  time_out_is_set_ = true;
  self_
    ->request(caf::actor_cast<caf::actor>(log_.talker()), confirmation_wait(),
              caf::sys_atom::value, caf::get_atom::value, std::string{"info"})
    .then([quit](caf::ok_atom, const std::string&, const caf::strong_actor_ptr&,
                 const std::string&) { quit(); },
          [quit](const caf::error&) { quit(); });
}

} // namespace tertulia::detail
