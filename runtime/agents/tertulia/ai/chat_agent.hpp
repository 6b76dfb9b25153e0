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

/// Handle of a chat agent: docs/genkit.md 003 §1.7.
template <class Status, class Custom>
using chat_agent = conversation_handle<Status, Custom, agent_response<Custom>>;

/// Defines a chat agent: a conversation of messages, a custom value and
/// artifacts, whose body reads the inputs and ends the turns itself. Registers
/// it as `/agent/<name>`, and if it has a store the actions
/// `/snapshot-store/<name>/getSnapshot`, `…/listSnapshots` and
/// `…/restoreSnapshot`.
///
/// Snapshots are made if a callback requests them, and named by the hash of
/// their state. Continuing from a snapshot creates a branch.
///
/// @param name    as for `runtime::define_bidi_action`.
/// @param body    a coroutine `task<>(context, ai::chat_session<Custom>,
///                input<conversation_input>, ai::chat_responder<Status>)`;
///                otherwise as for `runtime::define_bidi_action`.
/// @param options any of `with_snapshot_store`, `with_snapshot_callback`,
///                `with_save_failure`, `with_store_timeout`,
///                `with_client_states`, `with_input_check`, `with_migration`,
///                `with_keep`, `with_description`.
/// @errors `already_exists`; `invalid_argument` for a bad name or invalid
///         options.
/// @design docs/sessions.md#sessions; docs/genkit.md 003 §4.1.
template <class Body, class... Options>
auto define_chat_agent(runtime& rt, std::string name, Body body,
                       const Options&... options) {
  if constexpr (detail::check_chat_agent_body<Body>()) {
    using types = detail::types_of_conversation<Body>;
    using custom = typename types::custom_type;
    using status = typename types::status_type;
    auto chosen = detail::gather_agent<snapshot_context<custom>>(options...);
    auto info = detail::access::describe<types, runtime>(
      "agent", std::move(name), chosen.description);
    auto policy = detail::policy_of(std::move(chosen));
    policy.restore = detail::restore_rule::branch;
    detail::set_own_chunks<status>(policy);
    const auto callee
      = detail::make_body_action<detail::conversation_kind<Body>>(
        std::move(body), std::move(info), std::move(policy));
    using snapshot_type = agent_snapshot<custom>;
    detail::access::add(rt, detail::with_store_actions(
                              callee,
                              detail::outputs_of_conversation<snapshot_type>));
    return chat_agent<status, custom>{
      detail::access::handle<types>(rt, callee)};
  }
}

} // namespace tertulia::ai
