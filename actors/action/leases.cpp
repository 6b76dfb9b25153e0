// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/detail/leases.hpp>
#include <tertulia/status.hpp>

#include <caf/actor_cast.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>
#include <caf/typed_response_promise.hpp>

#include <map>
#include <memory>
#include <unordered_map>
#include <utility>

namespace tertulia::detail {

namespace {

/// One claim to a session, made by a session actor for its connection.
struct claimant {
  caf::actor_addr session;
  caf::actor_addr connection;
};

/// A claimant that waits for the end of the holder.
struct successor {
  claimant who;
  caf::typed_response_promise<void> answer;
};

struct lease {
  claimant holder;
  std::unique_ptr<successor> next; // rarely set
};

using lease_map = std::map<session_ref, lease>;

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
      watch(leases_.emplace(key, lease{who, nullptr}).first, who);
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
      held.next->answer.deliver(
        fail(errc::aborted, "a later invocation took over the session"));
      forget(held.next->who.session);
    } else {
      tell(held.holder.connection, taken);
    }
    watch(found, who);
    held.next = std::make_unique<successor>();
    held.next->who = who;
    held.next->answer = self_->make_response_promise<void>();
    return held.next->answer;
  }

  void release(const caf::actor_addr& session) {
    const auto known = claims_.find(session);
    if (known == claims_.end())
      return;
    const auto found = known->second;
    claims_.erase(known);
    auto& held = found->second;
    if (held.holder.session != session) {
      held.next.reset(); // the successor no longer waits
    } else if (held.next) {
      const auto next = std::move(held.next);
      held.holder = next->who;
      static_cast<caf::response_promise&>(next->answer).deliver(caf::unit);
    } else {
      leases_.erase(found);
    }
  }

  void watch(lease_map::iterator what, const claimant& who) {
    claims_.emplace(who.session, what);
    // The session may have ended before its claim arrived: CAF then sends the
    // down message at once.
    self_->monitor(self_->current_sender());
  }

  void forget(const caf::actor_addr& session) {
    self_->demonitor(session);
    claims_.erase(session);
  }

  void tell(const caf::actor_addr& connection, const caf::error& reason) {
    if (const auto to = caf::actor_cast<lease_holder>(connection))
      self_->send(to, cancel_atom_v, reason);
  }

  lease_actor::pointer self_;
  lease_map leases_;
  // By session actor. Each is the holder of a lease or its successor; both keep
  // the lease in the map.
  std::unordered_map<caf::actor_addr, lease_map::iterator> claims_;
};

} // namespace

lease_actor spawn_leases(caf::actor_system& system) {
  return system.spawn<caf::hidden>(
    [](lease_actor::stateful_pointer<leases_state> self) {
      return self->state.run();
    });
}

} // namespace tertulia::detail
