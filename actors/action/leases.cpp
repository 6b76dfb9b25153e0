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
  claimant owner;
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

  lease_actor::behavior_type make_behavior() {
    self_->set_down_handler([this](caf::down_msg& x) { release(x.source); });
    return {
      [this](claim_atom, const session_ref& key, const lease_holder& connection,
             if_live rule) { return acquire(key, connection, rule); },
      [this](release_atom, const caf::actor_addr& session) {
        self_->demonitor(session);
        release(session);
      },
    };
  }

private:
  caf::result<void> acquire(const session_ref& key,
                            const lease_holder& connection, if_live rule) {
    const claimant owner{
      caf::actor_cast<caf::actor_addr>(self_->current_sender()),
      connection.address()};
    const auto found = leases_.find(key);
    if (found == leases_.end()) {
      watch(leases_.emplace(key, lease{owner, nullptr}).first, owner);
      return caf::unit;
    }
    auto& lease = found->second;
    if (rule == if_live::refuse)
      return fail(errc::failed_precondition,
                  "session " + key.id.str() + " has a live invocation already",
                  to_json_text(key));
    const auto taken_over
      = fail(errc::cancelled, "another invocation took over the session");
    if (lease.next) {
      lease.next->answer.deliver(
        fail(errc::aborted, "a later invocation took over the session"));
      stop_watching(lease.next->owner.session);
    } else {
      cancel_connection(lease.holder.connection, taken_over);
    }
    watch(found, owner);
    lease.next = std::make_unique<successor>();
    lease.next->owner = owner;
    lease.next->answer = self_->make_response_promise<void>();
    return lease.next->answer;
  }

  void release(const caf::actor_addr& session) {
    const auto claimant_entry = claimants_.find(session);
    if (claimant_entry == claimants_.end())
      return;
    const auto found = claimant_entry->second;
    claimants_.erase(claimant_entry);
    auto& lease = found->second;
    if (lease.holder.session != session) {
      lease.next.reset(); // the successor no longer waits
    } else if (lease.next) {
      const auto next = std::move(lease.next);
      lease.holder = next->owner;
      static_cast<caf::response_promise&>(next->answer).deliver(caf::unit);
    } else {
      leases_.erase(found);
    }
  }

  void watch(lease_map::iterator place, const claimant& owner) {
    claimants_.emplace(owner.session, place);
    // The session may have ended before its claim arrived: CAF then sends the
    // down message at once.
    self_->monitor(self_->current_sender());
  }

  void stop_watching(const caf::actor_addr& session) {
    self_->demonitor(session);
    claimants_.erase(session);
  }

  void cancel_connection(const caf::actor_addr& connection,
                         const caf::error& reason) {
    if (const auto to = caf::actor_cast<lease_holder>(connection))
      self_->send(to, cancel_atom_v, reason);
  }

  lease_actor::pointer self_;
  lease_map leases_;
  // By session actor. Each is the holder of a lease or its successor; both keep
  // the lease in the map.
  std::unordered_map<caf::actor_addr, lease_map::iterator> claimants_;
};

} // namespace

lease_actor spawn_leases(caf::actor_system& system) {
  return system.spawn<caf::hidden>(
    [](lease_actor::stateful_pointer<leases_state> self) {
      return self->state.make_behavior();
    });
}

} // namespace tertulia::detail
