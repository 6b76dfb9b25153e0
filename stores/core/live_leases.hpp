// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/store.hpp>

#include <caf/actor_addr.hpp>
#include <caf/typed_event_based_actor.hpp>
#include <caf/typed_response_promise.hpp>

#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace tertulia {

/// Protocol of the supervisor of a store: that of the store, and the message
/// that the supervisor sends to itself.
using supervisor_actor = managed_store::extend<caf::reacts_to<caf::tick_atom>>;

/// Holders of the leases of a store, and those that wait for a lease.
///
/// The tables of the store have the fences; they decide which changes are too
/// late. The holders are actors, so they are known only to the supervisor, and
/// for as long as it lives.
///
/// @threads only on the actor of the supervisor.
class live_leases {
public:
  using promise = caf::typed_response_promise<lease_grant>;

  /// Receiver of decisions.
  class listener {
  public:
    virtual ~listener() = default;

    /// Delegates a request, whose holder now has the lease, to the store.
    virtual void grant(acquire_lease_request x, promise to) = 0;

    /// Sends the end of a lease to the store.
    virtual void end(release_lease_request x) = 0;
  };

  live_leases(supervisor_actor::pointer self, listener& decisions)
    : self_(self), decisions_(decisions) {}

  live_leases(const live_leases&) = delete;
  live_leases& operator=(const live_leases&) = delete;

  /// Answers those that wait: CAF drops a promise without an answer.
  ~live_leases();

  /// Grants a lease, refuses it, or waits for its end, which a take-over
  /// causes. Answers with `failed_precondition` if the lease is held, with
  /// `resource_exhausted` if too many wait, with `invalid_argument` for an
  /// invalid request.
  void acquire(acquire_lease_request x, promise to);

  /// Ends the leases of a holder, and its waits for one.
  /// @param session empty for all sessions of the holder.
  /// @returns whether there were any.
  bool release(const caf::actor_addr& holder, const session_ref& session = {});

  /// Throws `failed_precondition` if a session has a holder.
  void expect_free(const session_ref& session) const;

private:
  struct successor {
    acquire_lease_request request;
    promise answer;
  };

  struct lease {
    caf::actor_addr holder; // the store does not keep its holders alive
    std::string owner;
    std::vector<successor> next; // in order; rarely any
  };

  using lease_map = std::map<session_ref, lease>;

  /// Makes a request wait for the end of the lease.
  void wait(lease_map::iterator place, acquire_lease_request x, promise to);

  /// Cancels the holder of a lease for a request that takes over.
  void take_over(lease_map::iterator place);

  /// Ends the lease at a place, or the wait for it.
  void release(lease_map::iterator place, const caf::actor_addr& holder);

  void watch(const lease_holder& holder, lease_map::iterator place);
  void forget(const caf::actor_addr& holder, lease_map::iterator place);

  supervisor_actor::pointer self_;
  listener& decisions_;
  lease_map leases_;
  // Leases that an actor holds or waits for; both keep the lease in the map.
  std::unordered_multimap<caf::actor_addr, lease_map::iterator> places_;
};

} // namespace tertulia
