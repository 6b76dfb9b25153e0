// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/detail/session_actor.hpp>
#include <tertulia/detail/without_clock.hpp>

#include <caf/abstract_actor.hpp>
#include <caf/actor_cast.hpp>
#include <caf/message.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <memory>
#include <utility>

namespace tertulia::detail {

namespace {

/// Actor that decides what an event entails. A snapshot that is due goes from
/// the connection to the session without a turn of this actor.
///
/// @threads members are called by its own actor, and `enqueue` by all.
class responder : public responder_actor::base {
public:
  responder(caf::actor_config& config,
            std::shared_ptr<const conversation_action> conversation,
            session_actor session)
    : responder_actor::base(config), conversation_(std::move(conversation)),
      session_(std::move(session)) {}

  void enqueue(caf::mailbox_element_ptr x, caf::execution_unit* by) override {
    const auto& content = x->content();
    if (content.size() == 1 && content.match_element<snapshot_trigger>(0)
        && is_due(content.get_as<snapshot_trigger>(0)))
      caf::actor_cast<caf::abstract_actor*>(session_)->enqueue(std::move(x),
                                                               by);
    else
      responder_actor::base::enqueue(std::move(x), by);
  }

  behavior_type make_behavior() override {
    return {[](const snapshot_trigger&) { return snapshot_outcome{}; }};
  }

private:
  [[nodiscard]] bool is_due(const snapshot_trigger& x) const {
    const auto& policy = conversation_->policy;
    return x.event == snapshot_event::turn_end ? policy.stores_turns()
                                               : policy.makes_snapshots();
  }

  const std::shared_ptr<const conversation_action> conversation_;
  const session_actor session_;
};

} // namespace

responder_actor
spawn_responder(caf::local_actor& parent,
                const std::shared_ptr<const conversation_action>& conversation,
                session_actor session) {
  // Lazy: the actor is not scheduled before its first message arrives.
  return parent.spawn<without_clock<responder>, caf::hidden + caf::lazy_init>(
    conversation, std::move(session));
}

} // namespace tertulia::detail
