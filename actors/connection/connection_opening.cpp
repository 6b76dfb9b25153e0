// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/caller.hpp>
#include <tertulia/context.hpp>
#include <tertulia/descriptor.hpp>
#include <tertulia/detail/activity_counters.hpp>
#include <tertulia/detail/environment.hpp>
#include <tertulia/detail/session_actor.hpp>
#include <tertulia/span_names.hpp>
#include <tertulia/uuid.hpp>

#include <algorithm>
#include <exception>
#include <memory>
#include <string>
#include <utility>

#include "action_span.hpp"
#include "connection_state.hpp"
#include <fmt/format.h>
#include <spdlog/logger.h>

// Opening of a connection: everything up to the start of its body, or the
// refusal.

namespace tertulia::detail {

namespace {

/// Limits an opening to the sessions of a caller.
/// @errors throws `invalid_argument`.
void limit_to(const caller_name& caller, session_start& x) {
  if (caller.empty())
    return;
  if (x.snapshot && !x.session)
    throw status_error{errc::invalid_argument,
                       "$.session: the snapshot of a caller needs its session"};
  if (!x.session)
    x.session = session_of(caller, session_id{make_uuid()});
  x.hides_others = true;
}

/// Makes the task of a body that has failed where it was called.
task<payload> fail(std::exception_ptr reason) {
  std::rethrow_exception(std::move(reason));
  co_return payload{};
}

} // namespace

caf::result<open_result> connection_state::start(open_request& x) {
  if (is_open_)
    return attach_client(x);
  remote_ = x.client.node() != self_->node();
  delivery_confirmed_ = !remote_;
  const auto* conversation = action_->conversation();
  payload init;
  session_start start;
  try {
    if ((x.options.resume_after || x.options.turn)
        && (conversation == nullptr || !conversation->policy.stores_turns()))
      throw status_error{errc::failed_precondition,
                         fmt::format("{} stores no turns",
                                     action_->info()->key)};
    if (x.options.turn.str().size() > max_turn_id_size)
      throw status_error{errc::invalid_argument,
                         fmt::format("the name of a turn has at most {} bytes",
                                     max_turn_id_size)};
    if (x.options.custom_deltas
        && (conversation == nullptr || !conversation->policy.custom_chunk))
      throw status_error{errc::invalid_argument,
                         fmt::format("{} has no custom value",
                                     action_->info()->key)};
    if (x.options.output_messages > 0
        && (conversation == nullptr || !conversation->policy.custom_chunk))
      throw status_error{errc::invalid_argument,
                         fmt::format("{} has no messages",
                                     action_->info()->key)};
    if (conversation != nullptr) {
      if (x.init)
        init_ = action_->check_init(std::move(x.init));
      start = conversation->make_session_start(init_, x.options);
      init_ = std::move(start.init);
      if (x.options.caller && conversation->policy.store)
        limit_to(*x.options.caller, start);
    } else {
      init = action_->check_init(std::move(x.init));
    }
    for (auto& input : x.inputs)
      input = action_->check_input(std::move(input));
  } catch (...) {
    phase_ = phase::completed;
    self_->quit();
    return client_error(current_exception_to_error());
  }
  is_open_ = true;
  log_.open(std::move(x.client));
  in.start(x.options.input_window);
  out.start(x.options.chunk_window, action_->activity());
  action_->activity().opened.add();
  if (x.options.deadline.count() > 0)
    limits.set_deadline(x.options.deadline);
  if (env_->traces.enabled() && action_->traced()) {
    const auto parent
      = parse_traceparent(x.options.trace_parent, x.options.trace_state);
    trace
      = env_->traces.start(action_->info()->key, parent ? &*parent : nullptr);
    describe_action(trace, *action_->info());
  }
  output_messages = x.options.output_messages;
  if (x.options.custom_deltas) {
    deltas_ = std::make_unique<custom_deltas>(*this);
    start.listener = custom_listener{self_};
  }
  if (!x.options.disconnect) {
    x.options.disconnect = action_->runs().disconnect;
    x.options.grace = action_->runs().grace;
  }
  if (x.options.disconnect == on_disconnect::keep)
    keep(x);
  start_state_ = std::make_unique<start_state>(*this);
  start_state_->answer = self_->make_response_promise<open_result>();
  start_state_->resume_after = x.options.resume_after;
  start_state_->turn = std::move(x.options.turn);
  start_state_->turn_begin = x.options.turn_begin;
  start_state_->inputs = std::move(x.inputs);
  start_state_->closes = x.closes;
  set_origin(
    {std::move(x.options.call), x.options.caller.value_or(caller_name{})});
  set_link(std::move(x.session));
  auto answer = start_state_->answer;
  if (conversation != nullptr)
    open_session(std::move(start), x.options.open_within);
  else
    start_body(std::move(init));
  return answer;
}

void connection_state::open_session(session_start start, caf::timespan within) {
  const auto conversation
    = std::static_pointer_cast<const conversation_action>(action_);
  leased_ = static_cast<bool>(conversation->policy.store);
  if (!leased_) {
    start.session = session_id{make_uuid()};
    if (caller())
      start.session = session_of(caller(), start.session);
  }
  const auto id = start.session;
  const auto live = start.live;
  is_branch_
    = start.snapshot && conversation->policy.restore == restore_rule::branch;
  session_ = spawn_session(*self_, env_, conversation, std::move(start),
                           leased_ ? lease_holder{self_} : lease_holder{});
  self_->monitor(session_);
  if (!leased_)
    return start_conversation(id);
  start_state_->id = register_wait(
    *start_state_, live == if_live::queue
                     ? within
                     : std::min(within, conversation->policy.store_within));
  self_->request(session_, caf::infinite, caf::open_atom_v)
    .then(
      [this, begin = duration_counter::clock::now()](const session_view& x) {
        action_->activity().session_openings.add_since(begin);
        if (phase_ != phase::active)
          return;
        take_wait(start_state_->id);
        continue_session(x);
        start_conversation(x.id, x.last_snapshot);
      },
      [this](caf::error& reason) { refuse(std::move(reason)); });
}

void connection_state::continue_session(const session_view& x) {
  first_turn_ = x.turn;
  first_inputs_ = stored_inputs_ = x.inputs;
  const auto& after = start_state_->resume_after;
  auto& name = start_state_->turn;
  const auto is_last = name && name == x.turn_name;
  if (x.is_in_turn && (is_last || (after && x.inputs > *after)))
    if (auto again = conversation().resume_input()) {
      name_turn(x.turn_name);
      // The session contains the input already: it counts once.
      first_inputs_ -= std::min<std::uint64_t>(first_inputs_, 1);
      in.accept_again(std::move(again));
    }
  if (x.turn_name || !x.past_turns.empty()) {
    auto& names = named_turns();
    for (const auto& past : x.past_turns)
      names.past.push_back(past.name);
    if (!x.is_in_turn)
      names.last = x.turn_name;
    else if (in.accepted_count() == 0) // it stays cut off
      names.past.push_back(x.turn_name);
  }
  if (const auto progress = progress_of(name);
      progress != turn_progress::not_begun)
    start_state_->found = progress;
  else if (const auto& begin = start_state_->turn_begin;
           !begin || x.inputs <= *begin)
    name_turn(std::move(name));
}

void connection_state::start_conversation(const session_id& id,
                                          snapshot_id snapshot) {
  set_link({id, session_, turn_owner{self_}, conversation().kind});
  trace.set_attribute(span_names::conversation, id.str());
  trace.set_attribute(span_names::session, id.str());
  start_body({}, std::move(snapshot));
}

void connection_state::start_body(payload init, snapshot_id snapshot) {
  env_->log->debug("{} opened", action_->info()->key);
  std::string trace_id;
  if (const auto* traced = trace.context())
    trace_id = to_string(traced->trace);
  if (run_)
    register_run(snapshot);
  const auto opening = std::move(start_state_);
  // The answer is sent before the body sends anything.
  opening->answer.deliver(
    open_result{connection_actor{self_}, in.client_credit(),
                action_->conversation() != nullptr ? link().id : session_id{},
                std::move(trace_id), std::move(snapshot), position_of(0, 0, 0),
                opening->found});
  if (opening->found == turn_progress::not_begun)
    for (auto& input : opening->inputs)
      static_cast<void>(in.accept(std::move(input))); // the desk has counted
  if (opening->closes)
    in.close();
  try { // a body may be a plain function that returns a task
    body_.emplace(action_->start_body(access::make<context>(*this, trace),
                                      std::move(init)));
  } catch (...) {
    body_.emplace(fail(std::current_exception()));
  }
  schedule(access::start(*body_, static_cast<task_listener&>(*this), root));
  drain();
}

void connection_state::refuse(caf::error reason) {
  if (phase_ != phase::active)
    return;
  phase_ = phase::concluded;
  reason_ = std::move(reason);
  take_wait(start_state_->id);
  // As before a completion message, the session ends before the answer is sent:
  // the client can then open the session again.
  if (session_)
    self_->send_exit(session_, caf::exit_reason::kill);
  else
    send_refusal();
}

void connection_state::send_refusal() {
  phase_ = phase::completed; // the answer replaces the completion message
  const auto status = to_status(reason_);
  trace.set_error(status.code(), status.message());
  trace.end();
  start_state_->answer.deliver(client_error(std::move(reason_)));
  self_->quit();
}

} // namespace tertulia::detail
