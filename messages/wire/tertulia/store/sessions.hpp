// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/detail/compiled_once.hpp>
#include <tertulia/snapshot.hpp>
#include <tertulia/state.hpp>
#include <tertulia/store/damage.hpp>
#include <tertulia/store/names.hpp>
#include <tertulia/store/snapshots.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

// Requests to a store about sessions, and its replies.

namespace tertulia {

/// Maximum length of the title of a session, in bytes.
inline constexpr std::size_t max_title_size = 256;

/// Request for a session; `not_found` if it does not exist.
struct get_session_request : store_read {
  get_session_request() = default;
  explicit get_session_request(session_ref session,
                               detail_level detail = detail_level::state)
    : target(std::move(session)), detail(detail) {}

  session_ref target;
  detail_level detail = detail_level::state;
};

BOOST_DESCRIBE_STRUCT(get_session_request, (), (target, detail))

/// Request to save the state that a session works on, apart from its snapshots.
/// A session that does not exist is created. `aborted` if the session is in
/// none of the positions that this change follows, or if another fence was
/// granted than that of the change; nothing is changed then.
/// `failed_precondition` without a fence if the session has a lease.
struct save_session_request : memberwise {
  save_session_request() = default;
  save_session_request(session_ref session, state content,
                       std::uint64_t next_turn,
                       std::vector<session_position> follows = {},
                       std::uint64_t fence = 0)
    : target(std::move(session)), content(std::move(content)),
      next_turn(next_turn), follows(std::move(follows)), fence(fence) {}

  session_ref target;
  state content;
  std::uint64_t next_turn = 0;
  /// Positions that the change may replace; empty for any position. More than
  /// one if an earlier save of the same writer got no reply and may have
  /// happened.
  std::vector<session_position> follows;
  /// Fence of the writer's lease; 0 without a lease.
  std::uint64_t fence = 0;
  /// As in `session_info`. The name that the last turn had is then that of a
  /// past turn.
  std::optional<std::uint64_t> inputs;
  std::optional<turn_id> turn;
};

BOOST_DESCRIBE_STRUCT(save_session_request, (),
                      (target, content, next_turn, follows, fence, inputs,
                       turn))

/// Order of a list of sessions.
enum class session_order : std::uint8_t {
  by_name,   ///< By agent and id.
  by_change, ///< From the session that changed last to the one that did first.
};

/// Request for a page of sessions. `invalid_argument` for a list by change that
/// has no agent, or that is not at its first page.
struct list_sessions_request : store_read {
  list_sessions_request() = default;

  /// Key of the agent whose sessions are listed; empty for all agents.
  std::string agent;
  /// Only sessions with a snapshot that has this label; empty for all.
  std::string label;
  /// Only sessions that changed at or after this time.
  timestamp updated_since;
  /// Session after which the page begins; empty for the first page.
  session_ref after;
  /// Maximum length of the page, clamped to the range from 1 to `max_page`.
  std::uint32_t limit = 100;
  session_order order = session_order::by_name;
};

BOOST_DESCRIBE_STRUCT(list_sessions_request, (),
                      (agent, label, updated_since, after, limit, order))

/// Request to set, replace or remove the title of a session. This does not
/// count as a change of the session: its time stays. `invalid_argument` for a
/// title that is longer than `max_title_size` or not UTF-8, `not_found` if the
/// session does not exist.
struct title_session_request : memberwise {
  title_session_request() = default;
  title_session_request(session_ref session, std::string title)
    : target(std::move(session)), title(std::move(title)) {}

  session_ref target;
  /// Empty to remove the title.
  std::string title;
};

BOOST_DESCRIBE_STRUCT(title_session_request, (), (target, title))

/// Request to copy a session, as a whole or up to one of its records. Copy and
/// original are independent from then on: a change of one does not affect the
/// other.
///
/// The copy shares states and messages with the original. Its records keep
/// their numbers, ids, indexes, times, labels and notes. So an id alone is
/// ambiguous then, unless the copy belongs to another agent. The session itself
/// is new: it is created and changed at the time of the copy, and has the title
/// of the original.
///
/// A copy of the whole session has all records, orphans included, and the same
/// head. It works on the same state and continues with the same turn. A copy up
/// to a record contains that record, orphaned or not, and its ancestors. The
/// record becomes the head; the copy works on its state and continues with the
/// turn that follows it.
///
/// `not_found` if the session, or the record of it, does not exist;
/// `already_exists` if a session of the new name exists; `failed_precondition`
/// if the new name has a lease; `invalid_argument` if one of the names is
/// empty; `data_loss` that names the record if a record to be copied is
/// damaged. A copy up to a record before that one is still possible. A caller
/// that copies to another agent asserts that this agent can read the states. A
/// damaged state is copied as it is; reading it from the copy gives
/// `data_loss`.
struct copy_session_request : memberwise {
  copy_session_request() = default;
  copy_session_request(session_ref from, session_ref to,
                       std::uint64_t up_to = 0)
    : from(std::move(from)), to(std::move(to)), up_to(up_to) {}

  session_ref from;
  session_ref to;
  /// Sequence number of the last record to copy; 0 for all records.
  std::uint64_t up_to = 0;
};

BOOST_DESCRIBE_STRUCT(copy_session_request, (), (from, to, up_to))

/// Session as it is in a store.
struct stored_session : memberwise {
  stored_session() = default;

  session_info info;
  /// State that the session works on: the one that was saved or restored last,
  /// or that of the head. Plain and without a value if only the record was
  /// requested.
  state content;
  /// Head of the session. Converts to false without records, or if the head is
  /// damaged and no state was requested.
  stored_snapshot head;
};

BOOST_DESCRIBE_STRUCT(stored_session, (), (info, content, head))

/// One page of sessions.
struct session_page : memberwise {
  session_page() = default;

  std::vector<session_info> sessions;
  /// True if more sessions follow the last one.
  bool more = false;
  /// Entries that are left out of the page because they are damaged.
  std::vector<damage> damages;
};

BOOST_DESCRIBE_STRUCT(session_page, (), (sessions, more, damages))

} // namespace tertulia

TERTULIA_COMPILED_ONCE(tertulia::copy_session_request)
TERTULIA_COMPILED_ONCE(tertulia::get_session_request)
TERTULIA_COMPILED_ONCE(tertulia::list_sessions_request)
TERTULIA_COMPILED_ONCE(tertulia::save_session_request)
TERTULIA_COMPILED_ONCE(tertulia::session_page)
TERTULIA_COMPILED_ONCE(tertulia::stored_session)
TERTULIA_COMPILED_ONCE(tertulia::title_session_request)
