// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/detail/session_actor.hpp>
#include <tertulia/detail/without_clock.hpp>

#include <caf/typed_event_based_actor.hpp>

#include <utility>

namespace tertulia::detail {

responder_actor
spawn_responder(caf::local_actor& parent,
                const std::shared_ptr<const conversation_action>& conversation,
                session_actor session) {
  // Lazy: the actor is not scheduled before its first message arrives.
  return parent.spawn<caf::hidden + caf::lazy_init>(
    [](without_clock<responder_actor::base>* self,
       const std::shared_ptr<const conversation_action>& conversation,
       const session_actor& session) -> responder_actor::behavior_type {
      return {[=](snapshot_trigger x) -> caf::result<snapshot_outcome> {
        const auto& policy = conversation->policy;
        const auto is_due = x.event == snapshot_event::turn_end
                              ? policy.stores_turns()
                              : policy.makes_snapshots();
        if (!is_due)
          return snapshot_outcome{};
        return self->delegate(session, x);
      }};
    },
    conversation, std::move(session));
}

} // namespace tertulia::detail
