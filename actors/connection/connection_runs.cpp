// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/caller.hpp>
#include <tertulia/detail/environment.hpp>
#include <tertulia/json.hpp>
#include <tertulia/uuid.hpp>

#include <caf/actor_cast.hpp>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "connection_state.hpp"
#include <spdlog/logger.h>

// A kept run: its clients come and go.

namespace tertulia::detail {

namespace {

/// Longest time without a client for a run whose first client was lost before
/// it had said anything.
constexpr caf::timespan max_unknown_time = std::chrono::minutes{1};

} // namespace

caf::error unknown_run(const run_id& run, const session_id& session) {
  return fail(errc::not_found,
              run ? "there is no run " + run.str()
                  : "session " + session.str() + " has no kept run");
}

// -- clients that come --------------------------------------------------------

void connection_state::keep(const open_request& x) {
  run_ = std::make_unique<kept_run>(*this, run_id{make_uuid()}, x.options.grace,
                                    x.client_number, x.options.chunk_window);
}

void connection_state::register_run(const snapshot_id& snapshot) {
  log_.keep({env_->options.max_run_log, env_->options.max_turn_log},
            run_->client_number, run_->chunk_window, snapshot);
  run_->entry = env_->runs.add(info(), self_->address());
  if (!leased_)
    return;
  stored_run record;
  record.id = run_->id;
  record.agent = action_->info()->key;
  record.session = link_.id;
  record.snapshot = snapshot;
  record.owner = env_->owner;
  record.beat = env_->options.run_heartbeat;
  run_->record
    = std::make_unique<run_record>(*this, std::move(record),
                                   conversation().policy.store,
                                   env_->options.stored_run_retention);
}

attach_result connection_state::position_of(std::uint32_t reader,
                                            std::uint64_t next,
                                            std::uint64_t turns) const {
  attach_result result;
  if (run_)
    result.run = run_->id;
  result.reader = reader;
  result.next = next;
  result.turn = first_turn_ + turns;
  result.inputs = first_inputs_ + in.accepted_count();
  result.taken = inputs_taken();
  // What a branch continues from is not the session's head. A turn that
  // cannot be resumed begins again, with the changes that it has saved.
  result.is_stored = leased_ && !is_branch_
                     && conversation().policy.stores_turns()
                     && conversation().resume_input();
  if (run_)
    result.grace = run_->grace;
  result.is_in_turn = is_in_turn();
  return result;
}

caf::result<open_result> connection_state::attach_client(open_request& x) {
  if (!run_ || !x.options.attach)
    return fail(errc::failed_precondition, "the connection is open already");
  if (run_->is_leaving) // the desk has found the run, but it has ended since
    return self_->delegate(env_->desk, std::move(x));
  if (is_elsewhere(x.options.session)
      || (x.options.caller && is_foreign(*x.options.caller)))
    return unknown_run(x.options.attach->run, x.options.session);
  if (run_->is_stopping)
    return fail(errc::unavailable, "the runtime is stopping");
  if (!x.client || x.options.chunk_window > max_window)
    return fail(errc::invalid_argument,
                "a client needs a sink and a window of at most "
                  + std::to_string(max_window));
  flush(); // the gathered chunks belong to the log
  const auto& chosen = *x.options.attach;
  const auto position = chosen.after.value_or(log_.turn_start());
  if (position > log_.end())
    return fail(errc::out_of_range, "the log of run " + run_->id.str()
                                      + " ends at " + std::to_string(log_.end())
                                      + ", before " + std::to_string(position));
  if (position < log_.begin())
    return lost_position(position);
  const auto talks = chosen.role == client_role::talker;
  const client_log::client_name client{x.client.address(), x.client_number};
  if (talks && chosen.back_as && !log_.was_last_talker(*chosen.back_as, client))
    return fail(errc::aborted, "another client has taken over");
  if (talks && log_.is_outdated(client))
    return fail(errc::aborted, "this actor has attached again since");
  if (!talks && !log_.reads(client)
      && log_.listeners() >= env_->options.max_listeners)
    return fail(errc::resource_exhausted,
                "the run has " + std::to_string(log_.listeners())
                  + " listeners, which is the maximum");
  auto answer = self_->make_response_promise<open_result>();
  const auto at = log_.at(position);
  const auto is_remote = x.client.node() != self_->node();
  const auto had_talker = static_cast<bool>(log_.talker());
  const auto number
    = log_.attach(std::move(x.client), x.client_number, chosen.role, position,
                  x.options.chunk_window);
  std::uint32_t credit = 0;
  if (talks) {
    remote_ = is_remote;
    run_->is_known = true;
    run_->is_expired = false;
    take_wait(std::exchange(run_->timer, 0));
    if (!in.closed() && phase_ == phase::active)
      credit = in.restart_client();
    out.set_room(log_.room());
  } else if (had_talker && !log_.talker()) {
    run_alone(); // the talker listens from now on
  }
  std::string trace_id;
  if (const auto* traced = trace.context())
    trace_id = to_string(traced->trace);
  const auto progress = progress_of(x.options.turn);
  // A talker that comes back has named its input when it opened the run.
  if (talks && progress == turn_progress::not_begun && !chosen.back_as)
    name_turn(std::move(x.options.turn));
  // The answer is sent before what the log holds.
  answer.deliver(
    open_result{connection_actor{self_}, credit,
                action_->conversation() != nullptr ? link_.id : session_id{},
                std::move(trace_id), at.snapshot,
                position_of(number, position, at.turns), progress});
  log_.serve(number);
  drain();
  return answer;
}

caf::error connection_state::lost_position(std::uint64_t position) const {
  const auto begin = log_.begin();
  const auto at = log_.at(begin);
  return fail(errc::out_of_range,
              "the log of run " + run_->id.str() + " begins at "
                + std::to_string(begin) + ", after " + std::to_string(position),
              to_json_text(json{{"run", run_->id.str()},
                                {"number", begin},
                                {"snapshot", at.snapshot.str()}}));
}

bool connection_state::is_foreign(const caller_name& x) const noexcept {
  return x && !(leased_ ? owns(x, link_.id) : x == caller());
}

bool connection_state::is_elsewhere(const session_id& x) const noexcept {
  return x && x != link_.id;
}

// -- what clients say ---------------------------------------------------------

bool connection_state::is_talker(std::uint32_t reader) const noexcept {
  return !run_ || log_.is_talker(reader);
}

void connection_state::grant(std::uint32_t reader, std::uint32_t chunks) {
  if (!is_talker(reader))
    return log_.grant(reader, chunks);
  if (run_) {
    run_->is_known = true;
    log_.grant(reader, chunks);
  }
  out.grant(chunks);
}

bool connection_state::is_new(const turn_input& x) {
  if (!is_talker(x.reader))
    return false;
  run_->is_known = true;
  const auto next = first_inputs_ + in.accepted_count();
  if (!x.number || *x.number == next)
    return true;
  if (*x.number < next)
    in.return_credit();
  else
    abort(fail(errc::data_loss, "expected input " + std::to_string(next)
                                  + ", got " + std::to_string(*x.number)));
  return false;
}

caf::result<run_info> connection_state::handle(const run_request& x) {
  if (is_elsewhere(x.session) || is_foreign(x.caller))
    return unknown_run(x.run, x.session);
  auto found = info();
  const auto gave_up = run_ && !run_->is_known && x.verb == run_verb::cancel;
  if (run_ && is_talker(x.reader))
    run_->is_known = true;
  switch (x.verb) {
    case run_verb::inspect: break;
    case run_verb::close:
      if (is_talker(x.reader))
        in.close();
      break;
    case run_verb::cancel:
      if (!is_talker(x.reader))
        leave(x.reader);
      else
        abort(fail(errc::cancelled, "the client cancelled"));
      if (gave_up) // before it heard the answer to its opening
        log_.confirm(x.reader);
      break;
    case run_verb::abort:
      if (phase_ == phase::active)
        abort(fail(errc::aborted, "the run was aborted"));
      else
        found.status = final_status(); // too late
      break;
    case run_verb::confirm:
      if (run_)
        log_.confirm(x.reader);
      break;
    default: leave(x.reader); break;
  }
  drain();
  return found;
}

run_info connection_state::info() const {
  run_info result;
  if (run_)
    result.id = run_->id;
  result.key = action_->info()->key;
  if (action_->conversation() != nullptr)
    result.session = link_.id;
  // Until its store has the end, the run may still have been aborted there.
  result.status
    = phase_ < phase::completed ? run_status::running : final_status();
  result.is_in_turn = phase_ == phase::active && is_in_turn();
  return result;
}

run_status connection_state::final_status() const {
  if (!reason_)
    return run_status::completed;
  // A body may also fail with such a code by itself.
  const auto code = code_of(reason_);
  return was_ended_
             && (code == errc::cancelled || code == errc::aborted
                 || code == errc::unavailable)
           ? run_status::aborted
           : run_status::failed;
}

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

void connection_state::run_alone() {
  out.set_room(max_window);
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
  self_->request(sink, confirmation_timeout_, std::move(x))
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
