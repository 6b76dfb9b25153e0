// SPDX-License-Identifier: BSD-3-Clause

#include "connection_state.hpp"

#include <tertulia/context.hpp>
#include <tertulia/detail/environment.hpp>
#include <tertulia/detail/nested_connection.hpp>

#include <caf/actor_cast.hpp>

#include <algorithm>
#include <utility>

namespace tertulia::detail {

connection_state::~connection_state() {
  if (time_out_is_set_) // the actor is one without a clock
    self_->clock().cancel_timeouts(self_);
  if (!is_open_)
    return;
  action_->activity().ended.add();
  stop_waiting_for_clients();
  if (run_)
    run_->can_ask = false;
  // The clients of a run hear its output only if its store has the end.
  const auto is_recorded = run_ && run_->record;
  if (phase_ == phase::active || (is_recorded && phase_ < phase::completed)) {
    phase_ = phase::concluded;
    output_ = {};
    reason_ = fail(errc::aborted, "the connection was killed");
    was_ended_ = true;
  }
  kill_session();
  if (phase_ < phase::completed) {
    if (body_)
      record_end();
    else
      send_refusal();
  }
  // Actors that may outlive many connections must not keep a monitor for each:
  // the sink, and the front desk of another node.
  log_.close();
  forget_waits();
}

host_actor::behavior_type
connection_state::make_behavior(std::shared_ptr<environment> env,
                                std::shared_ptr<const action> action) {
  env_ = std::move(env);
  action_ = std::move(action);
  limits.start(*env_->timer);
  self_->set_down_handler([this](caf::down_msg& x) { on_down(x); });
  // CAF sends the error of a handler back also to who has not asked, and would
  // end this actor by it: a client may refuse a message, or a called flow an
  // input that has crossed its end.
  self_->set_error_handler([](caf::error&) {});
  self_->set_exit_handler([this](caf::exit_msg&) {
    is_stopping_ = true;
    stop_waiting_for_clients();
    if (phase_ == phase::confirming)
      return quit_after_confirmation();
    if (run_ && phase_ >= phase::recording)
      return quit_if_done();
    abort(fail(errc::unavailable, "the connection was stopped"));
  });
  return {
    [this](open_request& x) { return start(x); },
    [this](turn_input& x) { return take_input(x); },
    [this](chunk_credit x) {
      grant(x.reader, x.chunks);
      drain();
    },
    [this](caf::close_atom) {
      in.close();
      drain();
    },
    [this](cancel_atom) {
      // The clients of a kept run cancel with their number: this one is of a
      // client that gave up before it heard the answer to its opening.
      if (run_ && run_->is_known)
        return;
      if (run_ && log_.is_kept())
        log_.confirm(0);
      abort(fail(errc::cancelled, "the client cancelled"));
    },
    [this](chunk_batch& x) {
      if (auto* from = nested())
        from->on(std::move(x));
      drain();
    },
    [this](input_credit x) {
      if (auto* from = nested())
        from->on(x);
      drain();
    },
    [this](turn_end& x) {
      if (auto* from = nested())
        from->on(std::move(x));
      drain();
    },
    [this](completion& x) -> caf::result<void> {
      auto* const from = nested();
      const auto refusal = from ? from->on(std::move(x)) : caf::error{};
      drain();
      if (refusal)
        return refusal;
      return caf::unit;
    },
    [this](caf::tick_atom, std::uint64_t id) {
      if (id == time_limits::deadline_tick)
        return abort(fail(errc::deadline_exceeded,
                          "the connection's deadline has passed"));
      if (id == time_limits::expiry_tick)
        expire_waits();
      else if (id == time_limits::credit_tick)
        on_credit_tick();
      else if (auto* x = take_wait(id))
        x->wake();
      drain();
    },
    [this](done_atom, std::uint64_t id) {
      if (auto* x = take_wait(id))
        x->wake();
      drain();
    },
    [this](cancel_atom, const caf::error& reason) { abort(reason); },
    [this](iteration_end x) { return make_nested_snapshot(x); },
    [this](answer_end x) { finish_reason = x.reason; },
    [this](custom_change& x) {
      if (deltas_ && phase_ == phase::active && !root.cancelled())
        deltas_->change(std::move(x.value));
      drain();
    },
    [this](cancel_atom, std::uint64_t request) {
      const auto& sender = self_->current_sender();
      if (sender && snapshots_)
        snapshots_->withdraw(sender->address(), request);
      drain();
    },
    [this](const run_request& x) { return handle(x); },
  };
}

// -- the body -----------------------------------------------------------------

void connection_state::drain() {
  do {
    scheduled_.run();
    if (body_ended_)
      return conclude();
    flush();
  } while (!scheduled_.empty()); // flush cancels if a chunk cannot be encoded
  // By the clock, so that this actor handles other messages meanwhile, and
  // leaves its thread to others: a body may do nothing but send.
  if (run_ && !log_.talker() && out.is_awaited()
      && !std::exchange(run_->awaits_credit, true))
    limits.arm(time_limits::credit_tick, {});
  // Only blocking work still runs after a cancel, and it may run for long. The
  // client does not wait for it; the frame must.
  if (root.cancelled() && phase_ == phase::active)
    set_outcome({}, root.reason());
}

void connection_state::flush() {
  if (phase_ != phase::active)
    return; // nothing may follow the completion message
  if (out.size() == 0) {
    if (const auto due = in.credit_due(); due > 0 && log_.talker())
      log_.give_credit(due);
    return;
  }
  if (auto batch = take_batch())
    log_.add(std::move(*batch));
}

void connection_state::end_turn(snapshot_id snapshot) {
  auto last = take_batch();
  if (!last)
    return;
  const auto turn = out.end_turn();
  const auto begin = std::exchange(ended_inputs_, in.taken_count());
  if (names_)
    names_->last_begin = begin;
  // Otherwise the session knows from the trigger of the turn's snapshot.
  if (session_ && !conversation().policy.stores_turns())
    self_->send(session_, turn_end{turn});
  last_finish_reason = std::exchange(finish_reason, std::nullopt);
  log_.add(turn_end{turn, std::move(*last), std::move(snapshot),
                    last_finish_reason, stored_inputs_});
  answer_turn_waiters();
}

std::optional<chunk_batch> connection_state::take_batch() {
  chunk_batch result;
  result.first = out.sent();
  result.size = out.size();
  if (result.size > 0)
    result.items = out.take_batch();
  try {
    if (remote_ && !run_)
      result.items = result.items.sealed();
  } catch (...) {
    root.cancel(current_exception_to_error());
    return std::nullopt;
  }
  result.input_credit = in.take_credit();
  return result;
}

bool connection_state::monitors(const caf::actor_addr& who) const noexcept {
  const auto is = [&](const auto& x) { return x && x.address() == who; };
  return log_.reads(who) || is(session_) || is(responder_)
         || std::any_of(nested_.begin(), nested_.end(),
                        [&](const auto* x) { return is(x->peer()); });
}

bool connection_state::reads(const attachment& what, const std::string& key,
                             const session_id& of) const noexcept {
  return std::any_of(nested_.begin(), nested_.end(), [&](const auto* x) {
    if (what.run)
      return x->end.run() == what.run;
    return x->end.run() && !x->end.ended() && x->end.session() == of
           && x->key() == key;
  });
}

void connection_state::attach(nested_connection& x) {
  nested_.push_back(&x);
  self_->monitor(x.peer());
}

void connection_state::detach(nested_connection& x) noexcept {
  // A body may have left this run and attached to it again.
  if (std::erase(nested_, &x) > 0 && !monitors(x.peer().address()))
    self_->demonitor(x.peer().address());
}

// -- handlers -----------------------------------------------------------------

caf::result<void> connection_state::take_input(turn_input& x) {
  if (x.chunk_credit > 0)
    grant(x.reader, x.chunk_credit);
  if (run_ && !is_new(x)) {
    drain();
    return caf::unit;
  }
  caf::error refused;
  if (root.cancelled()) {
    refused = client_error(root.reason());
  } else if (phase_ != phase::active) {
    refused = reason_ ? client_error(reason_)
                      : fail(errc::failed_precondition,
                             "the connection has finished");
  } else {
    try {
      refused = in.accept(action_->check_input(std::move(x.value)));
    } catch (...) {
      refused = client_error(current_exception_to_error());
    }
    // After a close the input was merely late. With any other refusal the
    // client cannot be served.
    if (refused && !in.closed())
      abort(refused);
  }
  drain();
  if (refused)
    return refused;
  return caf::unit;
}

void connection_state::abort(const caf::error& reason) {
  root.cancel(reason);
  if (body_)
    drain();
  else if (is_open_)
    refuse(reason);
  else
    self_->quit(); // it was never opened
}

nested_connection* connection_state::nested() const noexcept {
  const auto& sender = self_->current_sender();
  for (auto* candidate : nested_)
    // After a loss of its node, the same actor has another handle.
    if (candidate->peer().address() == sender)
      return candidate;
  return nullptr; // a late message: the body has dropped the connection
}

} // namespace tertulia::detail
