// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/context.hpp>
#include <tertulia/detail/environment.hpp>
#include <tertulia/detail/host.hpp>
#include <tertulia/detail/nested_connection.hpp>
#include <tertulia/detail/timer.hpp>
#include <tertulia/uuid.hpp>

#include <caf/actor_cast.hpp>

#include <algorithm>
#include <utility>

#include "session_actor.hpp"
#include <spdlog/logger.h>

namespace tertulia::detail {

namespace {

/// Why a conversation ends that has lost one of its actors.
caf::error lost_part(const char* what, const caf::error& exit_reason) {
  return fail(errc::aborted, "the " + std::string{what}
                               + " was lost: " + caf::to_string(exit_reason));
}

/// Whether an operator should look at it: not what a client or a body chose.
bool is_fault(errc code) noexcept {
  return code == errc::internal || code == errc::aborted
         || code == errc::data_loss;
}

} // namespace

host::host(host_actor::pointer self) : root(*this, next_), self_(self) {}

host::~host() {
  if (!client_)
    return;
  if (!concluded_) {
    concluded_ = true;
    reason_ = fail(errc::aborted, "the connection was killed");
  }
  if (session_)
    self_->send_exit(session_, caf::exit_reason::kill);
  if (!told_) {
    if (body_)
      deliver_last_word();
    else
      deliver_refusal();
  }
  if (deadline)
    disarm(deadline_id);
  if (next_expiry_ != time_point::max())
    disarm(expiry_id);
  // A sink may outlive many connections and must not remember them all.
  self_->demonitor(client_.address());
}

host_actor::behavior_type host::run(std::shared_ptr<environment> env,
                                    std::shared_ptr<const action> what) {
  env_ = std::move(env);
  action_ = std::move(what);
  self_->set_down_handler([this](caf::down_msg& x) { on_down(x); });
  self_->set_exit_handler([this](caf::exit_msg&) {
    abort(fail(errc::unavailable, "the connection was told to stop"));
  });
  return {
    [this](open& x) { return start(x); },
    [this](turn_input& x) { return take_input(x); },
    [this](chunk_credit x) {
      out.grant(x.chunks);
      settle();
    },
    [this](caf::close_atom) {
      in.close();
      settle();
    },
    [this](cancel_atom) {
      abort(fail(errc::cancelled, "the client cancelled"));
    },
    [this](chunk_batch& x) {
      if (auto* from = nested())
        from->on(std::move(x));
      settle();
    },
    [this](input_credit x) {
      if (auto* from = nested())
        from->on(x);
      settle();
    },
    [this](turn_end x) {
      if (auto* from = nested())
        from->on(x);
      settle();
    },
    [this](finished& x) {
      if (auto* from = nested())
        from->on(std::move(x));
      settle();
    },
    [this](caf::tick_atom, std::uint64_t id) {
      if (id == deadline_id)
        return abort(fail(errc::deadline_exceeded,
                          "the connection's deadline has passed"));
      if (id == expiry_id)
        expire();
      else if (auto* x = claim(id))
        x->wake();
      settle();
    },
    [this](done_atom, std::uint64_t id) {
      if (auto* x = claim(id))
        x->wake();
      settle();
    },
    [this](spend_atom, std::uint32_t chunks) { out.spend(chunks); },
    [this](cancel_atom, const caf::error& reason) { abort(reason); },
  };
}

// -- for waits ----------------------------------------------------------------

void host::settle() {
  do {
    for (std::size_t i = 0; i < ready_.size(); ++i) { // it grows while we walk
      next_ = ready_[i];
      while (next_)
        std::exchange(next_, {}).resume();
    }
    ready_.clear();
    if (ended_)
      return conclude();
    flush();
  } while (!ready_.empty()); // a chunk that cannot be encoded is a cancel
  // What still runs after a cancel is blocking work, and it may run for long.
  // The client need not wait for it; the frame must.
  if (root.cancelled() && !concluded_)
    say_last_word({}, root.reason());
}

std::uint64_t host::enlist(wait& x) {
  enlisted_.push_back(enlisted{++last_id_, &x, time_point::max()});
  return last_id_;
}

std::uint64_t host::enlist(wait& x, caf::timespan within, bool vital) {
  const auto due = later(self_->clock().now(), within);
  enlisted_.push_back(enlisted{++last_id_, &x, due, vital});
  // One tick is under way, for the earliest of all. It stays when its wait ends
  // in time and serves the next one then: most waits cost the timer nothing.
  if (due < next_expiry_) {
    if (next_expiry_ != time_point::max())
      disarm(expiry_id);
    next_expiry_ = due;
    arm(expiry_id, within);
  }
  return last_id_;
}

wait* host::claim(std::uint64_t id) noexcept {
  const auto found = std::find_if(enlisted_.begin(), enlisted_.end(),
                                  [=](const auto& x) { return x.id == id; });
  if (found == enlisted_.end())
    return nullptr;
  auto* result = found->who;
  enlisted_.erase(found);
  return result;
}

void host::watch_for(std::uint64_t id, const caf::actor_addr& other) {
  // What was answered is forgotten now: few are open at a time.
  std::erase_if(asked_, [this](const auto& x) {
    const auto answered
      = std::none_of(enlisted_.begin(), enlisted_.end(),
                     [&](const auto& y) { return y.id == x.second; });
    if (answered)
      self_->demonitor(x.first);
    return answered;
  });
  asked_.emplace_back(other, id);
  self_->monitor(caf::actor_cast<caf::strong_actor_ptr>(other));
}

void host::flush() {
  if (concluded_)
    return; // nothing comes after the last word
  if (out.size() > 0) {
    const auto first = out.sent();
    const auto size = out.size();
    auto items = out.take_batch();
    if (remote_) {
      try {
        items = items.sealed();
      } catch (...) {
        return root.cancel(current_exception_to_error());
      }
    }
    self_->send(sink_,
                chunk_batch{first, size, std::move(items), in.take_credit()});
  } else if (const auto due = in.credit_due(); due > 0) {
    self_->send(sink_, input_credit{due});
  }
}

void host::end_turn() {
  flush();
  self_->send(sink_, turn_end{out.end_turn(), in.take_credit()});
}

void host::arm(std::uint64_t id, caf::timespan delay) {
  self_->send(env_->timer, arm_atom_v, id, delay);
}

void host::disarm(std::uint64_t id) {
  self_->send(env_->timer, disarm_atom_v, id);
}

void host::attach(nested_connection& x) {
  nested_.push_back(&x);
  self_->monitor(x.peer());
}

void host::detach(nested_connection& x) noexcept {
  std::erase(nested_, &x);
  self_->demonitor(x.peer().address());
}

// -- handlers -----------------------------------------------------------------

caf::result<opened> host::start(open& x) {
  if (client_)
    return fail(errc::failed_precondition, "the connection is open already");
  const auto* conversation = action_->conversation();
  payload init;
  session_opening how;
  try {
    if (conversation != nullptr) {
      if (x.init)
        init_ = action_->check_init(std::move(x.init));
      how = conversation->opening(init_, x.options);
    } else {
      init = action_->check_init(std::move(x.init));
    }
  } catch (...) {
    concluded_ = told_ = true;
    self_->quit();
    return current_exception_to_error();
  }
  client_ = std::move(x.client);
  sink_ = client_;
  remote_ = client_.node() != self_->node();
  self_->monitor(client_);
  in.start(x.options.input_window);
  out.start(x.options.chunk_window);
  if (x.options.deadline.count() > 0) {
    deadline = later(self_->clock().now(), x.options.deadline);
    arm(deadline_id, x.options.deadline);
  }
  if (env_->traces.enabled() && action_->traced()) {
    const auto parent = parse_traceparent(x.options.trace_parent);
    trace = env_->traces.start(action_->info.key, parent ? &*parent : nullptr);
  }
  opening_ = std::make_unique<opening>(*this);
  opening_->answer = self_->make_response_promise<opened>();
  link_ = std::move(x.session);
  auto answer = opening_->answer;
  if (conversation != nullptr)
    open_session(std::move(how));
  else
    start_body(std::move(init));
  return answer;
}

void host::open_session(session_opening how) {
  const auto what
    = std::static_pointer_cast<const conversation_action>(action_);
  leased_ = what->policy.store || how.session || how.snapshot;
  if (!leased_)
    how.session = session_id{make_uuid()};
  const auto id = how.session;
  session_ = spawn_session(*self_, env_, what, std::move(how),
                           leased_ ? lease_holder{self_} : lease_holder{});
  self_->monitor(session_);
  if (!leased_)
    return start_conversation(id);
  if (what->policy.store)
    opening_->id = enlist(*opening_, what->policy.store_within);
  self_->request(session_, caf::infinite, caf::open_atom_v)
    .then(
      [this](const session_view& x) {
        if (concluded_)
          return;
        claim(opening_->id);
        start_conversation(x.id);
      },
      [this](caf::error& reason) { refuse(std::move(reason)); });
}

void host::start_conversation(const session_id& id) {
  const auto what
    = std::static_pointer_cast<const conversation_action>(action_);
  responder_ = spawn_responder(*self_, what, self_->ctrl(), client_, session_);
  self_->monitor(responder_);
  sink_ = responder_;
  link_ = session_link{id, session_, responder_, what->kind};
  start_body({});
}

void host::start_body(payload init) {
  env_->log->debug("{} opened", action_->info.key);
  // The answer goes out before the body says its first word.
  std::exchange(opening_, nullptr)
    ->answer.deliver(opened{connection_actor{self_}, in.window()});
  body_.emplace(action_->run(context{*this, trace}, std::move(init)));
  schedule(body_->start_for(body_end_, root));
  settle();
}

void host::refuse(caf::error reason) {
  if (concluded_)
    return;
  concluded_ = true;
  reason_ = std::move(reason);
  claim(opening_->id);
  // As with a last word: who was refused can open the session again.
  if (session_)
    self_->send_exit(session_, caf::exit_reason::kill);
  else
    deliver_refusal();
}

void host::deliver_refusal() {
  told_ = true; // nobody listens yet: the answer is the last word
  const auto status = to_status(reason_);
  trace.set_error(status.code(), status.message());
  trace.end();
  opening_->answer.deliver(std::move(reason_));
  self_->quit();
}

caf::result<void> host::take_input(turn_input& x) {
  if (x.chunk_credit > 0)
    out.grant(x.chunk_credit);
  caf::error refused;
  if (root.cancelled()) {
    refused = root.reason();
  } else {
    try {
      refused = in.accept(action_->check_input(std::move(x.value)));
    } catch (...) {
      refused = current_exception_to_error();
    }
    // After a close the client was just late; everything else is a client that
    // cannot be served.
    if (refused && !in.closed())
      abort(refused);
  }
  settle();
  if (refused)
    return refused;
  return caf::unit;
}

void host::abort(const caf::error& reason) {
  root.cancel(reason);
  if (body_)
    settle();
  else if (client_)
    refuse(reason);
  else
    self_->quit(); // nobody opened it
}

void host::expire() {
  const auto now = self_->clock().now();
  // A tick that comes before `next_expiry_` is one that was overtaken.
  if (now < next_expiry_)
    return;
  next_expiry_ = time_point::max();
  std::vector<wait*> late;
  auto lost = false;
  for (const auto& x : enlisted_)
    if (x.due <= now) {
      late.push_back(x.who);
      lost = lost || x.vital;
    } else {
      next_expiry_ = std::min(next_expiry_, x.due);
    }
  if (next_expiry_ != time_point::max())
    arm(expiry_id, next_expiry_ - now);
  for (auto* x : late)
    x->abort(fail(errc::deadline_exceeded, "no answer came in time"));
  if (lost)
    root.cancel(fail(errc::deadline_exceeded,
                     "the session did not answer in time: what its store has "
                     "kept is unknown"));
}

void host::on_down(const caf::down_msg& x) {
  if (client_ && x.source == client_.address())
    return abort(fail(errc::cancelled, "the client is gone"));
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
    if (x.reason) // with the last word, which it had not handed on
      self_->send(
        sink_,
        finished{{}, lost_part("responder", x.reason), out.sent(), in.taken()});
    return quit_if_done();
  }
  for (const auto& [other, id] : asked_)
    if (other == x.source)
      if (auto* waiting = claim(id))
        waiting->abort(lost_connection(x.reason));
  std::erase_if(asked_, [&](const auto& y) { return y.first == x.source; });
  for (auto* candidate : nested_)
    if (candidate->peer().address() == x.source)
      candidate->lost(lost_connection(x.reason));
  settle();
}

nested_connection* host::nested() const noexcept {
  const auto& sender = self_->current_sender();
  for (auto* candidate : nested_)
    if (caf::actor_cast<caf::actor_control_block*>(candidate->peer())
        == sender.get())
      return candidate;
  return nullptr; // its body has dropped it: a late word
}

// -- the end ------------------------------------------------------------------

void host::conclude() {
  if (!concluded_) {
    flush();
    auto reason = root.reason();
    payload output;
    if (!reason) {
      try {
        output = body_->result();
        if (remote_)
          output = output.sealed();
      } catch (...) {
        output = {}; // it would take the error with it
        reason = current_exception_to_error();
      }
    }
    say_last_word(std::move(output), std::move(reason));
  }
  quit_if_done();
}

void host::say_last_word(payload output, caf::error reason) {
  concluded_ = true;
  output_ = std::move(output);
  reason_ = std::move(reason);
  if (session_)
    self_->send_exit(session_, caf::exit_reason::kill);
  // Who has heard the last word can open the session again: it has ended then,
  // and nothing that it began comes later.
  if (!session_ || !leased_)
    deliver_last_word();
}

void host::deliver_last_word() {
  told_ = true;
  if (reason_) {
    const auto status = to_status(reason_);
    trace.set_error(status.code(), status.message());
    if (is_fault(status.code()))
      env_->log->warn("{} failed: {}", action_->info.key,
                      to_string(status.code()));
  }
  trace.end();
  self_->send(sink_, finished{std::move(output_), std::move(reason_),
                              out.sent(), in.taken()});
  quit_if_done();
}

void host::quit_if_done() {
  // A client must not hear of our end before the last word, which the responder
  // hands on: that one goes first.
  if (told_ && ended_ && !responder_)
    self_->quit();
}

} // namespace tertulia::detail
