// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/context.hpp>
#include <tertulia/snapshot.hpp>
#include <tertulia/task.hpp>

namespace tertulia {

/// Triggers a snapshot of the session of this body after an event. For layers
/// that do not know the type of the session, such as one that calls a model and
/// its tools. The session is found through the context, also in a flow that an
/// agent's body has called. docs/genkit.md 000 §12.
///
/// @returns the id of the snapshot that has the state; empty if none was wanted
///          or there is no session.
/// @errors  as `agent_responder::end_turn`; `invalid_argument` for an event
///          that only the body's own responder or the end of the body can
///          trigger.
/// @threads only on the actor of its body.
/// @design  docs/sessions.md#sessions.
[[nodiscard]] task<snapshot_id> trigger_snapshot(context ctx,
                                                 snapshot_event event);

} // namespace tertulia
