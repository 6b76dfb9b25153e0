// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/snapshot.hpp>
#include <tertulia/state.hpp>
#include <tertulia/store/damage.hpp>
#include <tertulia/store/names.hpp>
#include <tertulia/store/snapshots.hpp>

#include <caf/meta/type_name.hpp>
#include <caf/timestamp.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

// What is said to a store about sessions, and what it answers.

namespace tertulia {

/// The longest title of a session, in bytes.
inline constexpr std::size_t max_title_size = 256;

/// Find a session; `not_found`.
struct get_session {
  get_session() = default;
  explicit get_session(session_ref which,
                       detail_level wanted = detail_level::state)
    : which(std::move(which)), wanted(wanted) {}

  session_ref which;
  detail_level wanted = detail_level::state;

  friend bool operator==(const get_session&, const get_session&) = default;
};

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, get_session& x) {
  return f(caf::meta::type_name("tertulia::get_session"), x.which, x.wanted);
}

/// Keep this as what the session works on, apart from its snapshots. A session
/// that is not there yet is created. `aborted` if the session is in none of the
/// positions that this change follows; nothing is changed then.
struct save_session {
  save_session() = default;
  save_session(session_ref which, state content, std::uint64_t next_turn,
               std::vector<session_position> follows = {})
    : which(std::move(which)), content(std::move(content)),
      next_turn(next_turn), follows(std::move(follows)) {}

  session_ref which;
  state content;
  std::uint64_t next_turn = 0;
  /// Positions that the change may replace; empty for any. More than one if an
  /// earlier save of the same writer got no answer and may have happened.
  std::vector<session_position> follows;

  friend bool operator==(const save_session&, const save_session&) = default;
};

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, save_session& x) {
  return f(caf::meta::type_name("tertulia::save_session"), x.which, x.content,
           x.next_turn, x.follows);
}

/// List sessions, ordered by agent and id, a page at a time.
struct list_sessions {
  list_sessions() = default;

  /// Key of an agent whose sessions are meant; empty for all agents.
  std::string agent;
  /// Only those with a snapshot of this label; empty for all.
  std::string label;
  /// Only those that changed at or after this time.
  caf::timestamp updated_since;
  /// After which session the page begins; empty for the first page.
  session_ref after;
  /// Longest page: 1 to `max_page`, whatever is said.
  std::uint32_t limit = 100;

  friend bool operator==(const list_sessions&, const list_sessions&) = default;
};

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, list_sessions& x) {
  return f(caf::meta::type_name("tertulia::list_sessions"), x.agent, x.label,
           x.updated_since, x.after, x.limit);
}

/// Give a session a title, or another one, or none. That is no change of what
/// the session is: its time stays. `invalid_argument` for a title that is
/// longer than `max_title_size` or not UTF-8, `not_found`.
struct title_session {
  title_session() = default;
  title_session(session_ref which, std::string title)
    : which(std::move(which)), title(std::move(title)) {}

  session_ref which;
  /// Empty for none.
  std::string title;

  friend bool operator==(const title_session&, const title_session&) = default;
};

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, title_session& x) {
  return f(caf::meta::type_name("tertulia::title_session"), x.which, x.title);
}

/// Make a session that is a copy of another one, as a whole or up to a record
/// of it. Both go on by themselves from there: nothing that is done to one of
/// them changes the other.
///
/// The copy shares states and messages with its origin. Its records have the
/// numbers, ids, indexes, times, labels and notes that they have there; so an
/// id alone is ambiguous then, unless the copy belongs to another agent. The
/// session itself is new: it was made and changed now, and has the title of its
/// origin.
///
/// A copy of the whole has all records, orphans included, and the head of its
/// origin, works on the same state and goes on with the same turn. A copy up to
/// a record has that one as its head, orphaned or not, its ancestors and
/// nothing else; it works on the record's state and goes on with the turn that
/// follows it.
///
/// `not_found` without such a session or such a record of it, `already_exists`
/// if there is a session of the new name, `invalid_argument` if one of the
/// names is empty, `data_loss` if one of the records is damaged that are to be
/// copied: it is named, and a copy up to a record before it can be made.
/// Whoever copies to another agent says that it can read the states. A damaged
/// state is copied as it is, and is `data_loss` to those who read it there.
struct copy_session {
  copy_session() = default;
  copy_session(session_ref from, session_ref to, std::uint64_t up_to = 0)
    : from(std::move(from)), to(std::move(to)), up_to(up_to) {}

  session_ref from;
  session_ref to;
  /// Sequence number of the last record that is copied; 0 for all there is.
  std::uint64_t up_to = 0;

  friend bool operator==(const copy_session&, const copy_session&) = default;
};

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, copy_session& x) {
  return f(caf::meta::type_name("tertulia::copy_session"), x.from, x.to,
           x.up_to);
}

/// A session as a store has it.
struct stored_session {
  stored_session() = default;

  session_info info;
  /// What it works on: as it was saved or restored last, or its head's state.
  /// Plain and without a value if only the record was wanted.
  state content;
  /// Its head; false without records, or if it is damaged and no state wanted.
  stored_snapshot head;

  friend bool operator==(const stored_session&, const stored_session&)
    = default;
};

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, stored_session& x) {
  return f(caf::meta::type_name("tertulia::stored_session"), x.info, x.content,
           x.head);
}

/// One page of sessions.
struct session_page {
  session_page() = default;

  std::vector<session_info> sessions;
  /// Whether there are more behind the last one.
  bool more = false;
  /// What is there as well, but has not stayed what it was.
  std::vector<damage> damages;

  friend bool operator==(const session_page&, const session_page&) = default;
};

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, session_page& x) {
  return f(caf::meta::type_name("tertulia::session_page"), x.sessions, x.more,
           x.damages);
}

} // namespace tertulia
