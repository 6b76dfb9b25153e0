// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/detail/compiled_once.hpp>
#include <tertulia/inspect.hpp>
#include <tertulia/store/damage.hpp>
#include <tertulia/store/names.hpp>

#include <cstdint>
#include <string>
#include <vector>

// Request to verify the content of a store, and its reply.

namespace tertulia {

/// Request to verify the data of sessions, a page at a time, and to report
/// damage: whether every state exists and has the hash that is its id, and
/// whether everything exists that sessions and records refer to.
///
/// Sessions are verified in the order of `list_sessions_request`: first the
/// session with the state that it works on, then its records, oldest first,
/// with their states. A shared state is verified wherever it is referred to.
///
/// A store limits the work for one page, so that it can serve other requests in
/// between; pages may therefore be shorter than requested. Changes beyond the
/// position reached so far are included when that part is verified. The sum of
/// `session_info.records` over all sessions gives the total amount of work.
/// With the first page of all sessions a store in a file verifies the file
/// itself as well, without interruption: that reads the whole file.
///
/// `invalid_argument` for a session without its agent.
struct verify_sessions_request : store_read {
  verify_sessions_request() = default;

  /// Key of the agent whose sessions are verified; empty for all agents.
  std::string agent;
  /// One session of the agent; empty for all sessions.
  session_id session;
  /// Position at which the last page ended: `verification_page.last` and
  /// `last_record`; empty and 0 for the first page.
  session_ref after;
  std::uint64_t after_record = 0;
  /// Maximum number of sessions and records to verify, clamped to the range
  /// from 1 to `max_page`.
  std::uint32_t limit = 100;
};

BOOST_DESCRIBE_STRUCT(verify_sessions_request, (),
                      (agent, session, after, after_record, limit))

/// Result of one page of `verify_sessions_request`.
struct verification_page : memberwise {
  verification_page() = default;

  /// Numbers of sessions and records that were verified.
  std::uint64_t sessions = 0;
  std::uint64_t records = 0;
  /// Damage found in these; a damaged state is repeated for each that has it.
  std::vector<damage> damages;
  /// Last item verified: a record, or the session itself if the record is 0.
  session_ref last;
  std::uint64_t last_record = 0;
  /// True if more items follow.
  bool more = false;
};

BOOST_DESCRIBE_STRUCT(verification_page, (),
                      (sessions, records, damages, last, last_record, more))

} // namespace tertulia

TERTULIA_COMPILED_ONCE(tertulia::verification_page)
TERTULIA_COMPILED_ONCE(tertulia::verify_sessions_request)
