// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/context.hpp>
#include <tertulia/detail/environment.hpp>
#include <tertulia/detail/session_actor.hpp>
#include <tertulia/detail/timer.hpp>
#include <tertulia/uuid.hpp>

#include <memory>
#include <utility>

#include "connection_state.hpp"
#include <spdlog/logger.h>

// Opening of a connection: everything up to the start of its body, or the
// refusal.

namespace tertulia::detail {

caf::result<opened> connection_state::start(open& x) {
  if (client_)
    return fail(errc::failed_precondition, "the connection is open already");
  remote_ = x.client.node() != self_->node();
  heard_ = !remote_;
  const auto* conversation = action_->conversation();
  payload init;
  session_opening how;
  try {
    if (conversation != nullptr) {
      if (x.init)
        init_ = action_->check_init(std::move(x.init));
      how = conversation->opening(init_, x.options);
      init_ = std::move(how.init);
    } else {
      init = action_->check_init(std::move(x.init));
    }
  } catch (...) {
    concluded_ = told_ = true;
    self_->quit();
    return for_client(current_exception_to_error());
  }
  client_ = std::move(x.client);
  sink_ = client_;
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

void connection_state::open_session(session_opening how) {
  const auto what
    = std::static_pointer_cast<const conversation_action>(action_);
  leased_ = static_cast<bool>(what->policy.store);
  if (!leased_)
    how.session = session_id{make_uuid()};
  const auto id = how.session;
  session_ = spawn_session(*self_, env_, what, std::move(how),
                           leased_ ? lease_holder{self_} : lease_holder{});
  self_->monitor(session_);
  if (!leased_)
    return start_conversation(id);
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

void connection_state::start_conversation(const session_id& id) {
  const auto what
    = std::static_pointer_cast<const conversation_action>(action_);
  responder_ = spawn_responder(*self_, what, self_->ctrl(), client_, session_);
  self_->monitor(responder_);
  sink_ = responder_;
  link_ = session_link{id, session_, responder_, what->kind};
  start_body({});
}

void connection_state::start_body(payload init) {
  env_->log->debug("{} opened", action_->info.key);
  // The answer is sent before the body sends anything.
  std::exchange(opening_, nullptr)
    ->answer.deliver(opened{connection_actor{self_}, in.window()});
  body_.emplace(
    action_->run(access::make<context>(*this, trace), std::move(init)));
  schedule(access::start(*body_, body_end_, root));
  settle();
}

void connection_state::refuse(caf::error reason) {
  if (concluded_)
    return;
  concluded_ = true;
  reason_ = std::move(reason);
  claim(opening_->id);
  // As before a completion message, the session ends before the answer is sent:
  // the client can then open the session again.
  if (session_)
    self_->send_exit(session_, caf::exit_reason::kill);
  else
    deliver_refusal();
}

void connection_state::deliver_refusal() {
  told_ = true; // the answer replaces the completion message
  const auto status = to_status(reason_);
  trace.set_error(status.code(), status.message());
  trace.end();
  opening_->answer.deliver(for_client(std::move(reason_)));
  self_->quit();
}

} // namespace tertulia::detail
