// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/caller.hpp>
#include <tertulia/detail/environment.hpp>
#include <tertulia/json.hpp>
#include <tertulia/uuid.hpp>

#include <caf/actor_cast.hpp>
#include <caf/timestamp.hpp>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "connection_state.hpp"
#include <fmt/format.h>
#include <spdlog/logger.h>

// Kept runs: attaching, and requests of clients.

namespace tertulia::detail {

caf::error unknown_run(const run_id& run, const session_id& session) {
  return fail(errc::not_found,
              run ? fmt::format("there is no run {}", run.str())
                  : fmt::format("session {} has no kept run", session.str()));
}

// -- clients that come --------------------------------------------------------

void connection_state::keep(const open_request& x) {
  run_ = std::make_unique<kept_run>(*this, run_id{make_uuid()}, x.options.grace,
                                    x.client_number, x.options.chunk_window);
}

void connection_state::register_run(const snapshot_id& snapshot) {
  log_.keep({env_->options.max_run_log, env_->options.max_turn_log},
            run_->client_number, run_->chunk_window, snapshot);
  stored_run record;
  record.id = run_->id;
  record.agent = action_->info()->key;
  if (action_->conversation() != nullptr)
    record.session = link().id;
  record.snapshot = snapshot;
  record.owner = env_->owner;
  record.began_at = record.beat_at = caf::make_timestamp();
  run_->entry = env_->runs.add(record, caller(), self_->address());
  if (!leased_)
    return;
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
                fmt::format("a client needs a sink and a window of at most {}",
                            max_window));
  flush(); // the gathered chunks belong to the log
  const auto& chosen = *x.options.attach;
  const auto position = chosen.after.value_or(log_.turn_start());
  if (position > log_.end())
    return fail(errc::out_of_range,
                fmt::format("the log of run {} ends at {}, before {}",
                            run_->id.str(), log_.end(), position));
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
                fmt::format("the run has {} listeners, which is the maximum",
                            log_.listeners()));
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
                action_->conversation() != nullptr ? link().id : session_id{},
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
              fmt::format("the log of run {} begins at {}, after {}",
                          run_->id.str(), begin, position),
              to_json_text(json{{"run", run_->id.str()},
                                {"number", begin},
                                {"snapshot", at.snapshot.str()}}));
}

bool connection_state::is_foreign(const caller_name& x) const noexcept {
  return x && !(leased_ ? owns(x, link().id) : x == caller());
}

bool connection_state::is_elsewhere(const session_id& x) const noexcept {
  return x && x != link().id;
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
    abort(fail(errc::data_loss,
               fmt::format("expected input {}, got {}", next, *x.number)));
  return false;
}

caf::result<run_info> connection_state::handle(const run_request& x) {
  if (is_elsewhere(x.session) || is_foreign(x.caller))
    return unknown_run(x.run, x.session);
  auto found = info();
  const auto gave_up = run_ && !run_->is_known && x.verb == run_verb::cancel;
  if (run_ && is_talker(x.reader) && x.verb != run_verb::await_turn_end)
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
    case run_verb::await_turn_end:
      if (!run_ || !found.is_in_turn)
        break;
      if (run_->turn_waiters.size() >= env_->options.max_listeners)
        return fail(errc::resource_exhausted,
                    "the end of the turn is awaited too often");
      return run_->turn_waiters.emplace_back(
        self_->make_response_promise<run_info>());
    default: leave(x.reader); break;
  }
  drain();
  return found;
}

void connection_state::answer_turn_waiters() {
  if (!run_ || run_->turn_waiters.empty() || info().is_in_turn)
    return;
  for (auto& x : std::exchange(run_->turn_waiters, {}))
    x.deliver(info());
}

run_info connection_state::info() const {
  run_info result;
  if (run_)
    result.id = run_->id;
  result.key = action_->info()->key;
  if (action_->conversation() != nullptr)
    result.session = link().id;
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

} // namespace tertulia::detail
