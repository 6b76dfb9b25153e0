// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/identifier.hpp>
#include <tertulia/store/damage.hpp>
#include <tertulia/store/names.hpp>

#include <caf/meta/type_name.hpp>

#include <cstdint>
#include <string>
#include <vector>

// How a store is asked whether it still has what it was given.

namespace tertulia {

/// Look at all that is kept of sessions, a page at a time, and say what is
/// damaged: whether every state is there and has the hash that its id says, and
/// whether all that sessions and records refer to is there.
///
/// Sessions are looked at in the order of `list_sessions`; of each first
/// itself, with the state it works on, then its records, oldest first, with
/// their states. A state that is shared is looked at where it is referred to.
///
/// A store looks at no more in one go than it can within a blink, so pages may
/// be shorter than asked for, and serves others in between. What they change
/// behind the place that has been reached is looked at as it is by then.
/// `session_info.records` of all sessions says how long the way is. With the
/// first page of all sessions a store in a file looks at the file itself, too,
/// in one go: that reads all of it.
///
/// `invalid_argument` for a session without its agent.
struct verify_sessions {
  verify_sessions() = default;

  /// Key of an agent whose sessions are meant; empty for all agents.
  std::string agent;
  /// One session of the agent; empty for all.
  session_id session;
  /// Where the last page ended: `verified_page.last` and `last_record`; empty
  /// and 0 for the first page.
  session_ref after;
  std::uint64_t after_record = 0;
  /// How many sessions and records are looked at: 1 to `max_page`, whatever is
  /// said.
  std::uint32_t limit = 100;

  friend bool operator==(const verify_sessions&, const verify_sessions&)
    = default;
};

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, verify_sessions& x) {
  return f(caf::meta::type_name("tertulia::verify_sessions"), x.agent,
           x.session, x.after, x.after_record, x.limit);
}

/// What a page of `verify_sessions` came to.
struct verified_page {
  verified_page() = default;

  /// How many were looked at.
  std::uint64_t sessions = 0;
  std::uint64_t records = 0;
  /// What is damaged of these; the same state again for each that has it.
  std::vector<damage> damages;
  /// What was looked at last: a record, or the session itself if that is 0.
  session_ref last;
  std::uint64_t last_record = 0;
  /// Whether there is more behind that.
  bool more = false;

  friend bool operator==(const verified_page&, const verified_page&) = default;
};

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, verified_page& x) {
  return f(caf::meta::type_name("tertulia::verified_page"), x.sessions,
           x.records, x.damages, x.last, x.last_record, x.more);
}

} // namespace tertulia
