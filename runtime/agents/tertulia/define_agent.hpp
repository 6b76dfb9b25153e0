// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/agent_options.hpp>
#include <tertulia/agent_responder.hpp>
#include <tertulia/agent_session.hpp>
#include <tertulia/detail/agent_kind.hpp>
#include <tertulia/detail/store_actions.hpp>
#include <tertulia/runtime.hpp>
#include <tertulia/trigger_snapshot.hpp>

#include <memory>
#include <string>
#include <utility>

namespace tertulia {

/// Defines an agent: a flow whose connections have a session with a state of
/// its own type, which is stored, snapshotted and restored. Registers it as
/// `/agent/<name>`, and if it has a store the actions
/// `/snapshot-store/<name>/getSnapshot`, `…/listSnapshots`, `…/restoreSnapshot`
/// and `…/getSession`.
///
/// @param name    as for `runtime::define_bidi_action`.
/// @param body    a coroutine `task<agent_result<Out>>(context,
///                agent_session<State>, input<In>, agent_responder<Stream>)`,
///                or one that returns `task<Out>` or `task<>`; otherwise as
///                there.
/// @param options any of `with_snapshot_store`, `with_snapshot_callback`,
///                `with_save_failure`, `with_store_timeout`, `with_migration`,
///                `with_keep`, `with_description`.
/// @errors `already_exists`; `invalid_argument` for a bad name or invalid
///         options.
/// @design docs/sessions.md#sessions; docs/genkit.md 001 §2.3, 000 §3.
template <class Body, class... Options>
auto define_agent(runtime& rt, std::string name, Body body,
                  const Options&... options) {
  if constexpr (detail::check_agent_body<Body>()) {
    using types = detail::types_of_agent<Body>;
    using state_type = typename types::state_type;
    auto chosen
      = detail::gather_agent<snapshot_context<state_type>>(options...);
    auto info = detail::access::describe<types, runtime>(
      "agent", std::move(name), std::move(chosen.description));
    auto policy = detail::policy_of(std::move(chosen));
    policy.saves_changes = true;
    const auto callee = detail::make_body_action<detail::agent_kind<Body>>(
      std::move(body), std::move(info), std::move(policy));
    detail::access::add(rt, detail::with_store_actions(
                              callee, detail::outputs_of_agent<state_type>));
    return detail::access::handle<types>(rt, callee);
  }
}

} // namespace tertulia
