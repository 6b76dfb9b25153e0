// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/detail/compiled_once.hpp>
#include <tertulia/open.hpp>
#include <tertulia/protocol.hpp>
#include <tertulia/store/names.hpp>

#include <caf/timespan.hpp>

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>

// Requests to a store for the right to write a session, and its replies.

namespace tertulia {

/// Longest time in which the holder of a lease has to confirm that it was
/// cancelled. After that it counts as lost, and the lease is granted to the
/// next one: the fence of a lost holder is too old for any change.
inline constexpr caf::timespan max_cancel_wait = std::chrono::seconds{5};

/// Request for the lease of a session, which need not exist. A session has at
/// most one lease.
///
/// The lease ends when the holder releases it, when the holder ends, or when
/// another one takes it over. A take-over cancels the holder and is answered
/// when the holder has released the lease, or has not confirmed the cancel
/// within `max_cancel_wait`. A later take-over ends the wait of an earlier one
/// with `aborted`. Under `if_live::queue` a request waits until the lease ends,
/// behind earlier ones; a take-over goes before them. A holder that requests
/// its lease again gets a greater fence.
///
/// `failed_precondition` that names session and owner if the session has a
/// lease and the rule is `if_live::refuse`; `resource_exhausted` if
/// `max_queued_openings` requests wait already; `invalid_argument` if
/// `check_name` rejects the session, or without a holder.
struct acquire_lease_request : memberwise {
  acquire_lease_request() = default;
  acquire_lease_request(session_ref session, lease_holder holder,
                        std::string owner = {}, if_live rule = if_live::refuse)
    : target(std::move(session)), holder(std::move(holder)),
      owner(std::move(owner)), rule(rule) {}

  session_ref target;
  /// Receiver of the cancel on a take-over. The store monitors it.
  lease_holder holder;
  /// Process of the holder, as text for people.
  std::string owner;
  if_live rule = if_live::refuse;
};

BOOST_DESCRIBE_STRUCT(acquire_lease_request, (), (target, holder, owner, rule))

/// Reply to `acquire_lease_request`.
struct lease_grant : memberwise {
  lease_grant() = default;
  explicit lease_grant(std::uint64_t fence) : fence(fence) {}

  /// Number that every change of the session carries; 0 for none. It is greater
  /// than every fence that the store has granted before. A change with another
  /// fence than the last one is `aborted`.
  std::uint64_t fence = 0;
};

BOOST_DESCRIBE_STRUCT(lease_grant, (), (fence))

/// Request to end the lease of a holder, or its wait for one. The reply is
/// whether there was any. Changes with the fence of the lease are `aborted`
/// afterwards.
struct release_lease_request : memberwise {
  release_lease_request() = default;
  explicit release_lease_request(lease_holder holder, session_ref session = {})
    : holder(std::move(holder)), target(std::move(session)) {}

  lease_holder holder;
  /// Empty for all sessions of the holder.
  session_ref target;
};

BOOST_DESCRIBE_STRUCT(release_lease_request, (), (holder, target))

} // namespace tertulia

TERTULIA_COMPILED_ONCE(tertulia::acquire_lease_request)
TERTULIA_COMPILED_ONCE(tertulia::lease_grant)
TERTULIA_COMPILED_ONCE(tertulia::release_lease_request)
