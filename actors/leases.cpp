// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/detail/leases.hpp>
#include <tertulia/status.hpp>

#include <caf/actor_cast.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>
#include <caf/typed_response_promise.hpp>

#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

namespace tertulia::detail {

namespace {

/// One claim to a session: by a session actor, for a connection.
struct claimant {
  caf::actor_addr session;
  caf::actor_addr connection;
};

struct lease {
  claimant holder;
  std::optional<claimant> next;             // waits for the holder to end
  caf::typed_response_promise<void> answer; // to the next
};

class leases_state {
public:
  static inline const char* name = "tertulia.leases";

  explicit leases_state(lease_actor::pointer self) : self_(self) {}

  lease_actor::behavior_type run() {
    self_->set_down_handler([this](caf::down_msg& x) { release(x.source); });
    return {
      [this](claim_atom, const session_ref& key, const lease_holder& connection,
             if_live what) { return claim(key, connection, what); },
      [this](release_atom, const caf::actor_addr& session) {
        self_->demonitor(session);
        release(session);
      },
    };
  }

private:
  caf::result<void> claim(const session_ref& key,
                          const lease_holder& connection, if_live what) {
    const claimant who{
      caf::actor_cast<caf::actor_addr>(self_->current_sender()),
      connection.address()};
    const auto found = leases_.find(key);
    if (found == leases_.end()) {
      watch(key, who);
      leases_.emplace(key, lease{who, {}, {}});
      return caf::unit;
    }
    auto& held = found->second;
    if (what == if_live::refuse)
      return fail(errc::failed_precondition,
                  "session " + key.id.str() + " has a live invocation already",
                  to_json_text(key));
    const auto taken
      = fail(errc::cancelled, "another invocation took over the session");
    if (held.next) {
      held.answer.deliver(
        fail(errc::aborted, "a later invocation took over the session"));
      forget(held.next->session);
    } else {
      tell(held.holder.connection, taken);
    }
    watch(key, who);
    held.next = who;
    held.answer = self_->make_response_promise<void>();
    return held.answer;
  }

  void release(const caf::actor_addr& session) {
    const auto known = keys_.find(session);
    if (known == keys_.end())
      return;
    const auto found = leases_.find(known->second);
    keys_.erase(known);
    if (found == leases_.end())
      return;
    auto& held = found->second;
    if (held.holder.session != session) { // the next one did not wait
      if (held.next && held.next->session == session)
        held.next.reset();
    } else if (held.next) {
      held.holder = *std::exchange(held.next, std::nullopt);
      static_cast<caf::response_promise&>(held.answer).deliver(caf::unit);
    } else {
      leases_.erase(found);
    }
  }

  void watch(const session_ref& key, const claimant& who) {
    keys_.emplace(who.session, key);
    if (const auto session
        = caf::actor_cast<caf::strong_actor_ptr>(who.session))
      self_->monitor(session);
    else // it ended while its claim was under way
      self_->send(caf::actor_cast<lease_actor>(self_), release_atom_v,
                  who.session);
  }

  void forget(const caf::actor_addr& session) {
    self_->demonitor(session);
    keys_.erase(session);
  }

  void tell(const caf::actor_addr& connection, const caf::error& reason) {
    if (const auto to = caf::actor_cast<lease_holder>(connection))
      self_->send(to, cancel_atom_v, reason);
  }

  lease_actor::pointer self_;
  std::map<session_ref, lease> leases_;
  std::unordered_map<caf::actor_addr, session_ref> keys_; // by session
};

} // namespace

lease_actor spawn_leases(caf::actor_system& system) {
  return system.spawn<caf::hidden>(
    [](lease_actor::stateful_pointer<leases_state> self) {
      return self->state.run();
    });
}

} // namespace tertulia::detail
