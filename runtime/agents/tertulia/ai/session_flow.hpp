// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/agent_options.hpp>
#include <tertulia/ai/conversation_handle.hpp>
#include <tertulia/detail/conversation_kind.hpp>
#include <tertulia/detail/store_actions.hpp>
#include <tertulia/runtime.hpp>

#include <memory>
#include <string>
#include <utility>

namespace tertulia::ai {

/// Handle of a session flow: docs/genkit.md 004 §1.7.
template <class Status, class Custom>
using session_flow
  = conversation_handle<Status, Custom, session_flow_response<Custom>>;

} // namespace tertulia::ai

namespace tertulia::detail {

/// Callback of a session flow whose author gives none.
inline bool want_each_snapshot(const snapshot_moment&) {
  return true;
}

/// Defines a session flow; see `ai::define_session_flow`.
template <class Body, class Context>
auto define_session_flow(runtime& rt, std::string name, Body body,
                         agent_options<Context> chosen) {
  using types = types_of_conversation<Body>;
  using custom = typename types::custom_type;
  using status = typename types::status_type;
  auto info = access::describe<types, runtime>("session-flow", std::move(name),
                                               chosen.description);
  auto policy = policy_of(std::move(chosen));
  policy.ids = id_scheme::unique;
  policy.restore = restore_rule::branch;
  set_own_chunks<status>(policy);
  policy.span_key = "genkit:metadata:sessionFlow";
  if (policy.store && !policy.wanted)
    policy.wanted = want_each_snapshot;
  const auto callee = make_body_action<conversation_kind<Body>>(
    std::move(body), std::move(info), std::move(policy));
  using snapshot_type = ai::session_flow_snapshot<custom>;
  access::add(rt, with_store_actions(callee,
                                     outputs_of_conversation<snapshot_type>));
  return ai::session_flow<status, custom>{access::handle<types>(rt, callee)};
}

} // namespace tertulia::detail

namespace tertulia::ai {

/// Defines a session flow: a conversation whose session owns the loop over the
/// turns. Registers it as `/session-flow/<name>`, and if it has a store the
/// actions `/snapshot-store/<name>/getSnapshot`, `…/listSnapshots` and
/// `…/restoreSnapshot`.
///
/// With a store, snapshots are made at the end of each turn, of each round of
/// tools in it (`ai::generate`) and of the invocation, unless a callback
/// declines. They are named by UUIDs, which are also stored in the last message
/// as `snapshotId`, so that a client knows which snapshot belongs to which
/// message. Continuing from a snapshot creates a branch.
///
/// @param body    a coroutine `task<>(context, ai::flow_session<Custom>,
///                ai::flow_responder<Status>)`; otherwise as for
///                `define_chat_agent`.
/// @param options as for `define_chat_agent`.
/// @errors as `define_chat_agent`.
/// @design docs/sessions.md#sessions; docs/genkit.md 004 §4.1.
template <class Body, class... Options>
auto define_session_flow(runtime& rt, std::string name, Body body,
                         const Options&... options) {
  if constexpr (detail::check_session_flow_body<Body>()) {
    using custom = typename detail::types_of_conversation<Body>::custom_type;
    return detail::define_session_flow(
      rt, std::move(name), std::move(body),
      detail::gather_agent<snapshot_context<custom>>(options...));
  }
}

} // namespace tertulia::ai
