// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/detail/environment.hpp>

#include <caf/actor_cast.hpp>

#include <chrono>
#include <string>
#include <utility>

#include "connection_state.hpp"

// Kept runs: leaving, and the end.

namespace tertulia::detail {

namespace {

/// Longest time without a client for a run whose first client was lost before
/// it had said anything.
constexpr caf::timespan max_unknown_time = std::chrono::minutes{1};

/// Chunks that a body sends without a talker before its actor handles other
/// messages.
constexpr std::int64_t window_alone = 4'096;

} // namespace

// -- clients that go ----------------------------------------------------------

void connection_state::leave(std::uint32_t reader) {
  if (!run_)
    return;
  const auto talks = log_.is_talker(reader);
  log_.dismiss(reader, fail(errc::cancelled, "the client has detached"));
  if (talks)
    run_alone();
  drain();
}

void connection_state::on_reader_lost(const caf::actor_addr& who) {
  const auto talks = log_.talker() && log_.talker().address() == who;
  if (!run_ || !log_.is_kept()) {
    delivery_confirmed_ = true;
    return abort(fail(errc::cancelled, "the client is gone"));
  }
  log_.forget(who);
  if (talks)
    run_alone();
  drain();
}

void connection_state::give_credit_alone() {
  if (!log_.talker())
    out.set_room(window_alone);
}

void connection_state::on_credit_tick() {
  if (!run_)
    return; // it is of a stranger
  run_->awaits_credit = false;
  give_credit_alone();
}

void connection_state::run_alone() {
  give_credit_alone();
  auto within = run_->grace;
  // Perhaps nobody knows its name: the answer to the opening may be lost.
  if (!run_->is_known && (within.count() == 0 || within > max_unknown_time))
    within = max_unknown_time;
  wait_for_client(within);
}

void connection_state::wait_for_client(caf::timespan within) {
  if (run_->is_stopping)
    within = max_confirmation_wait_on_stop;
  if (run_->timer == 0 && within.count() > 0)
    run_->timer = register_wait(*run_, within);
}

void connection_state::on_expiry() {
  take_wait(std::exchange(run_->timer, 0));
  run_->is_expired = true;
  // The handler of the time-out drains.
  if (phase_ == phase::active)
    root.cancel(
      fail(errc::cancelled, "no client has attached within the grace period"));
  else if (phase_ == phase::recording)
    quit_if_done(); // a body that blocks does not hold the end
}

// -- end ----------------------------------------------------------------------

void connection_state::deliver_end(std::uint32_t reader, const chunk_sink& sink,
                                   completion x) {
  if (!run_->can_ask)
    return self_->send(sink, std::move(x));
  time_out_is_set_ = true;
  self_->request(sink, confirmation_wait(), std::move(x))
    .then(
      [this, reader] {
        log_.deliver_end(reader);
        quit_if_done();
      },
      [this, reader](const caf::error&) {
        // It was lost before it heard the end, or is away: it may attach again.
        const auto talks = log_.is_talker(reader);
        log_.dismiss(reader, caf::none);
        if (talks)
          run_alone();
        quit_if_done();
      });
}

void connection_state::quit_kept_if_done() {
  if (run_->is_expired || run_->is_stopping) {
    log_.dismiss_unserved(
      reason_ ? reason_
              : fail(errc::unavailable, "the run has ended, and is gone"));
    // A question to a reader has a time-out of its own; a runtime that stops
    // does not wait as long.
    if (!log_.is_asking() || (run_->is_expired && run_->is_stopping))
      return leave_desk();
    if (run_->is_stopping)
      wait_for_client(max_confirmation_wait_on_stop);
    return;
  }
  if (log_.all_know_end() && log_.talker_knows_end())
    return leave_desk();
  // A talker reads as slowly as it likes; a question has a time limit.
  if (log_.talker_reads() || log_.is_asking())
    return;
  const auto within
    = run_->grace.count() > 0 ? run_->grace : env_->options.ended_run_retention;
  if (within.count() > 0)
    wait_for_client(within);
  else
    leave_desk();
}

void connection_state::leave_desk() {
  run_->entry.reset();
  if (run_->is_stopping)
    return self_->quit();
  if (std::exchange(run_->is_leaving, true))
    return;
  // The desk may have passed on an attach before the run was forgotten. Its
  // answer, which CAF gives for every actor, comes behind that.
  self_
    ->request(caf::actor_cast<caf::actor>(env_->desk), caf::infinite,
              caf::sys_atom::value, caf::get_atom::value, std::string{"info"})
    .then([this](caf::ok_atom, const std::string&, const caf::strong_actor_ptr&,
                 const std::string&) { self_->quit(); },
          [this](const caf::error&) { self_->quit(); });
}

void connection_state::stop_waiting_for_clients() {
  if (!run_)
    return;
  run_->is_stopping = true;
  run_->is_expired = false;
  take_wait(std::exchange(run_->timer, 0));
}

} // namespace tertulia::detail
