// SPDX-License-Identifier: BSD-3-Clause

#include "sqlite_store_data.hpp"

#include <tertulia/status.hpp>

#include <caf/timestamp.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>
#include <string_view>
#include <unordered_map>

#include "sqlite_checksum.hpp"
#include "sqlite_schema.hpp"
#include "store_rules.hpp"

namespace tertulia {

namespace {

// An index says where a row is; what is in the row is read from the table, and
// is compared with what was looked for: else a flipped bit in an index would
// lead to somebody else's row.

/// The columns of a session behind its names, in the order in which they are
/// read.
#define TERTULIA_SESSION                                                       \
  " s.created_at, s.updated_at, s.head, s.next_turn, s.records,"               \
  " s.last_sequence, s.state, s.title, s.preview, s.messages, s.bytes,"        \
  " s.checksum = " TERTULIA_SESSION_CHECKSUM("s")

/// Of one session, whose row is found by its key.
#define TERTULIA_ONE_SESSION                                                   \
  "SELECT s.key, s.agent, s.id," TERTULIA_SESSION " FROM sessions s"           \
  " WHERE s.key = "

/// Of many, in the order of their names.
#define TERTULIA_SESSIONS                                                      \
  "SELECT CASE WHEN s.agent = i.agent AND s.id = i.id THEN s.key END,"         \
  " i.agent, i.id," TERTULIA_SESSION " AND s.agent = i.agent AND s.id = i.id"  \
  " FROM sessions i LEFT JOIN sessions s ON s.key = i.key"                     \
  " WHERE (s.key IS NULL OR (s.updated_at >= ?3"                               \
  " AND (?4 = '' OR EXISTS (SELECT 1 FROM labels l"                            \
  " WHERE l.session = s.key AND l.label = ?4))))"

/// Whether a record is what was written.
#define TERTULIA_WHOLE_RECORD "r.checksum = " TERTULIA_RECORD_CHECKSUM("r")

/// Those of a record, with the ids that its state and its parent know.
#define TERTULIA_RECORD                                                        \
  "SELECT r.sequence, r.parent, r.depth, r.turn_index, r.event, r.created_at," \
  " r.own_id, r.run, r.state, t.id, p.own_id, pt.id, r.note, t.type_name,"     \
  " t.type_version, " TERTULIA_WHOLE_RECORD                                    \
  ", t.checksum = " TERTULIA_STATE_CHECKSUM(                                   \
    "t") ", p.checksum "                                                       \
         "="                                                                   \
         " " TERTULIA_RECORD_CHECKSUM("p") " AND pt.checksum "                 \
                                           "= " TERTULIA_STATE_CHECKSUM(       \
                                             "pt") " FROM records r"           \
                                                   " LEFT JOIN states "        \
                                                   "t ON t.key = "             \
                                                   "r.state"                   \
                                                   " LEFT JOIN records "       \
                                                   "p ON p.session = "         \
                                                   "r.session AND "            \
                                                   "p.sequence = "             \
                                                   "r.parent"                  \
                                                   " LEFT JOIN states "        \
                                                   "pt ON pt.key = "           \
                                                   "p.state"

/// How much of messages and values is hashed for one page at most, beside the
/// last one: a tenth of a second or so.
constexpr std::uint64_t max_verified_bytes = 32u << 20u;

constexpr std::array<std::string_view, 3> event_names{
  "turn_end", "tool_iteration_end", "invocation_end"};

std::int64_t to_number(caf::timestamp x) {
  return x.time_since_epoch().count();
}

caf::timestamp to_time(std::int64_t x) {
  return caf::timestamp{caf::timestamp::duration{x}};
}

/// A number that somebody chose, as one that can be compared with ours.
std::uint64_t clamped(std::uint64_t x) {
  return std::min<std::uint64_t>(x, std::numeric_limits<std::int64_t>::max());
}

damage damage_of(damage_kind kind, const session_info& x,
                 std::uint64_t sequence, const std::string& what) {
  auto text = "session \"" + x.id.str() + "\" of " + x.agent + ' ' + what;
  if (sequence != 0)
    text = "record " + std::to_string(sequence) + " of " + text;
  return {kind, {x.agent, x.id}, sequence, {}, std::move(text)};
}

[[noreturn]] void reject(const damage& x) {
  throw status_error{errc::data_loss, x.what};
}

[[noreturn]] void reject_missing(const session_info& x,
                                 std::uint64_t sequence) {
  reject(damage_of(damage_kind::missing, x, sequence, "is missing"));
}

damage damage_of(const session_info& x) {
  return damage_of(damage_kind::corrupt, x, 0, "is corrupt");
}

/// Tells of damage in a list, which goes on behind it.
void add(std::vector<damage>& to, damage x) {
  if (to.size() == max_page)
    reject(x); // there is nothing else in here
  to.push_back(std::move(x));
}

std::optional<snapshot_event> to_event(std::string_view x) {
  const auto i = std::find(event_names.begin(), event_names.end(), x);
  if (i == event_names.end())
    return std::nullopt;
  return static_cast<snapshot_event>(i - event_names.begin());
}

snapshot_id id_of(std::string_view own_id, std::string_view state) {
  return snapshot_id{own_id.empty() ? hex_of_bytes(state)
                                    : std::string{own_id}};
}

} // namespace

sqlite_store_data::sqlite_store_data(const std::string& file,
                                     const sqlite_options& options)
  : hold_(file, options.patience), db_(open_sqlite(file, options)),
    states_(db_, options.remembered_messages), begin_(db_, "BEGIN IMMEDIATE"),
    commit_(db_, "COMMIT"), mark_(db_, "SAVEPOINT change"),
    keep_(db_, "RELEASE change"), undo_(db_, "ROLLBACK TO change"),
    find_session_(db_, TERTULIA_ONE_SESSION
                  "(SELECT key FROM sessions WHERE agent = ?1 AND id = ?2)"),
    read_session_(db_, TERTULIA_ONE_SESSION "?1"),
    insert_session_(db_, "INSERT INTO sessions (agent, id, created_at,"
                         " updated_at, head, next_turn, records,"
                         " last_sequence, state, title, preview, messages,"
                         " bytes) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9,"
                         " ?10, ?11, ?12, ?13)"),
    seal_session_(
      db_, "UPDATE sessions AS s SET"
           " checksum = " TERTULIA_SESSION_CHECKSUM("s") " WHERE s.key = ?1"),
    update_session_(db_, "UPDATE sessions SET updated_at = ?2, head = ?3,"
                         " next_turn = ?4, records = ?5, last_sequence = ?6,"
                         " state = ?7, title = ?8, preview = ?9,"
                         " messages = ?10, bytes = ?11 WHERE key = ?1"),
    erase_session_(db_, "DELETE FROM sessions WHERE key = ?1"),
    list_sessions_(db_, TERTULIA_SESSIONS
                   " AND (i.agent, i.id) > (?1, ?2) ORDER BY i.agent, i.id"),
    list_sessions_of_(db_, TERTULIA_SESSIONS
                      " AND i.agent = ?1 AND i.id > ?2 ORDER BY i.id"),
    find_record_(db_,
                 TERTULIA_RECORD " WHERE r.session = ?1 AND r.sequence = ?2"),
    find_records_(db_, TERTULIA_RECORD
                  " WHERE r.session = ?1 AND r.sequence BETWEEN ?2 AND ?3"
                  " ORDER BY r.sequence"),
    find_id_(db_, "SELECT sequence FROM records"
                  " WHERE own_id = ?2 AND session = ?1 UNION"
                  " SELECT r.sequence FROM states t"
                  " JOIN records r ON r.state = t.key"
                  " WHERE t.id = ?3 AND r.session = ?1 AND r.own_id IS NULL"
                  " ORDER BY 1 DESC"),
    find_sessions_with_id_(db_, "SELECT DISTINCT s.key FROM ("
                                "SELECT session FROM records"
                                " WHERE own_id = ?2 UNION "
                                "SELECT r.session FROM states t"
                                " JOIN records r ON r.state = t.key"
                                " WHERE t.id = ?3 AND r.own_id IS NULL) x"
                                " JOIN sessions s ON s.key = x.session"
                                " WHERE s.agent = ?1 ORDER BY s.key LIMIT ?4"),
    run_of_(db_, "SELECT r.run, " TERTULIA_WHOLE_RECORD " FROM records r"
                 " WHERE r.session = ?1 AND r.sequence = ?2"),
    parent_of_(db_, "SELECT r.parent, " TERTULIA_WHOLE_RECORD
                    " FROM records r WHERE r.session = ?1"
                    " AND r.sequence >= ?2 ORDER BY r.sequence LIMIT 1"),
    insert_record_(db_, "INSERT INTO records (session, sequence, state, parent,"
                        " run, depth, turn_index, event, created_at, own_id,"
                        " note) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9,"
                        " ?10, ?11)"),
    seal_record_(db_, "UPDATE records AS r SET"
                      " checksum = " TERTULIA_RECORD_CHECKSUM(
                        "r") " WHERE r.session = ?1 AND r.sequence = ?2"),
    seal_records_(db_, "UPDATE records AS r SET"
                       " checksum = " TERTULIA_RECORD_CHECKSUM(
                         "r") " WHERE r.session = ?1"),
    write_note_(db_, "UPDATE records SET note = ?3 WHERE session = ?1"
                     " AND sequence = ?2"),
    copy_records_(db_, "INSERT INTO records (session, sequence, state, parent,"
                       " run, depth, turn_index, event, created_at, own_id,"
                       " note) SELECT ?2, sequence, state, parent, run, depth,"
                       " turn_index, event, created_at, own_id, note"
                       " FROM records"
                       " WHERE session = ?1 AND sequence BETWEEN ?3 AND ?4"),
    copy_labels_(db_, "INSERT INTO labels (session, sequence, label)"
                      " SELECT ?2, sequence, label FROM labels"
                      " WHERE session = ?1 AND sequence BETWEEN ?3 AND ?4"),
    count_records_(db_, "SELECT count(*), max(sequence) FROM records"
                        " WHERE session = ?1"),
    count_whole_(db_, "SELECT count(*) FROM records r WHERE r.session = ?1"
                      " AND " TERTULIA_WHOLE_RECORD),
    verify_records_(db_, "SELECT r.sequence, r.parent, p.sequence IS NULL,"
                         " r.run, r.event, r.state, " TERTULIA_WHOLE_RECORD
                         " FROM records r"
                         " LEFT JOIN records p ON p.session = r.session"
                         " AND p.sequence = r.parent"
                         " WHERE r.session = ?1 AND r.sequence > ?2"
                         " ORDER BY r.sequence LIMIT ?3"),
    move_record_(db_, "UPDATE records SET parent = ?3 WHERE session = ?1"
                      " AND sequence = ?2"),
    erase_record_(db_, "DELETE FROM records WHERE session = ?1"
                       " AND sequence = ?2"),
    erase_records_(db_, "DELETE FROM records WHERE session = ?1"),
    states_of_(db_, "SELECT DISTINCT state FROM records WHERE session = ?1"),
    outline_(db_, "SELECT r.sequence, r.parent, r.state, r.created_at,"
                  " EXISTS (SELECT 1 FROM labels l WHERE l.session = r.session"
                  " AND l.sequence = r.sequence)"
                  " FROM records r WHERE r.session = ?1 ORDER BY r.sequence"),
    labels_of_(db_, "SELECT label FROM labels WHERE session = ?1"
                    " AND sequence = ?2 ORDER BY label"),
    insert_label_(db_, "INSERT INTO labels (session, sequence, label)"
                       " VALUES (?1, ?2, ?3)"),
    erase_labels_(db_, "DELETE FROM labels WHERE session = ?1"
                       " AND sequence = ?2") {}

#undef TERTULIA_SESSION
#undef TERTULIA_ONE_SESSION
#undef TERTULIA_SESSIONS
#undef TERTULIA_WHOLE_RECORD
#undef TERTULIA_RECORD

// -- transactions -------------------------------------------------------------

void sqlite_store_data::begin() {
  begin_.run();
}

void sqlite_store_data::commit() {
  try {
    commit_.run();
  } catch (...) {
    roll_back();
    throw;
  }
}

void sqlite_store_data::mark() {
  changes_before_ = sqlite3_total_changes64(db_.get());
  mark_.run();
}

void sqlite_store_data::roll_back() noexcept {
  states_.forget_all();
  if (in_transaction())
    sqlite3_exec(db_.get(), "ROLLBACK", nullptr, nullptr, nullptr);
}

void sqlite_store_data::undo() noexcept {
  if (sqlite3_total_changes64(db_.get()) != changes_before_)
    states_.forget_all();
  if (!in_transaction())
    return; // SQLite has taken back all of it
  try {
    undo_.run();
    keep_.run();
  } catch (const status_error&) {
    // Nobody knows what is in the transaction now.
    roll_back();
  }
}

// -- finding ------------------------------------------------------------------

sqlite_store_data::session
sqlite_store_data::read_session(const sqlite_statement::cursor& row) {
  session result;
  result.key = row.number(0);
  result.info.agent = row.text(1);
  result.info.id = session_id{row.text(2)};
  result.info.created_at = to_time(row.number(3));
  result.info.updated_at = to_time(row.number(4));
  result.info.head = row.count(5);
  result.info.next_turn = row.count(6);
  result.info.records = row.count(7);
  result.last_sequence = row.count(8);
  result.state = row.number(9);
  result.info.title = row.text(10);
  result.info.preview = row.text(11);
  result.info.messages = row.count(12);
  result.info.bytes = row.count(13);
  result.is_whole = row.number(14) != 0;
  return result;
}

std::optional<sqlite_store_data::session>
sqlite_store_data::find_any(const session_ref& x) {
  auto rows = find_session_.bind(1, x.agent).bind(2, x.id.str()).rows();
  if (!rows.next())
    return std::nullopt;
  auto result = read_session(rows);
  if (result.info.agent != x.agent || result.info.id != x.id) {
    result.info.agent = x.agent;
    result.info.id = x.id;
    reject(damage_of(result.info));
  }
  return result;
}

std::optional<sqlite_store_data::session>
sqlite_store_data::find(const session_ref& x) {
  auto result = find_any(x);
  if (result && !result->is_whole)
    reject(damage_of(result->info));
  return result;
}

std::optional<damage>
sqlite_store_data::damage_in(const session& in,
                             const sqlite_statement::cursor& row) {
  const auto because = [&](damage_kind kind, const char* what) {
    return damage_of(kind, in.info, row.count(0), what);
  };
  if (row.number(15) == 0 || !to_event(row.view(4)))
    return because(damage_kind::corrupt, "is corrupt");
  if (row.is_null(9))
    return because(damage_kind::missing, "refers to a state that is missing");
  if (row.number(16) == 0 || !type_of(row.view(13), row.number(14)))
    return because(damage_kind::corrupt, "refers to a state that is corrupt");
  return std::nullopt;
}

sqlite_store_data::entry
sqlite_store_data::read_entry(const session& in,
                              const sqlite_statement::cursor& row) {
  if (const auto damaged = damage_in(in, row))
    reject(*damaged);
  entry result;
  auto& x = result.record;
  x.agent = in.info.agent;
  x.session = in.info.id;
  x.sequence = row.count(0);
  x.state = state_id{hex_of_bytes(row.view(9))};
  x.type = type_of(row.view(13), row.number(14)).value();
  x.id = id_of(row.view(6), row.view(9));
  x.parent = row.count(1);
  if (row.number(17) != 0) // or nobody knows what its parent is
    x.parent_id = id_of(row.view(10), row.view(11));
  x.index = row.count(2);
  x.turn_index = row.count(3);
  x.event = to_event(row.view(4)).value();
  x.created_at = to_time(row.number(5));
  result.run = row.count(7);
  result.state = row.number(8);
  x.note = row.text(12);
  auto labels = labels_of_.bind(1, in.key).bind(2, x.sequence).rows();
  while (labels.next())
    x.labels.push_back(labels.text(0));
  return result;
}

std::optional<sqlite_store_data::entry>
sqlite_store_data::find(const session& in, std::uint64_t sequence) {
  auto rows = find_record_.bind(1, in.key).bind(2, clamped(sequence)).rows();
  if (rows.next())
    return read_entry(in, rows);
  if (sequence <= in.last_sequence)
    expect_all_records(in);
  return std::nullopt;
}

void sqlite_store_data::expect_all_records(const session& in) {
  auto rows = count_whole_.bind(1, in.key).rows();
  const auto whole = rows.next() ? rows.count(0) : 0;
  if (whole != in.info.records)
    reject(damage_of(damage_kind::corrupt, in.info, 0,
                     "has " + std::to_string(in.info.records)
                       + " records, of which " + std::to_string(whole)
                       + " can be read"));
}

std::optional<sqlite_store_data::entry>
sqlite_store_data::find(const session& in, const snapshot_id& id) {
  std::uint64_t newest = 0;
  const auto state = bytes_of_hex(id.str());
  auto rows
    = find_id_.bind(1, in.key).bind(2, id.str()).bind_blob(3, state).rows();
  while (rows.next()) {
    const auto sequence = rows.count(0);
    const auto active = is_active(in, sequence);
    if (newest == 0 || active)
      newest = sequence;
    if (active)
      break;
  }
  if (newest != 0) {
    auto result = find(in, newest);
    if (result && result->record.id != id)
      reject(damage_of(in.info)); // an index says what the record does not
    return result;
  }
  expect_all_records(in); // it might be one that nobody can read
  return std::nullopt;
}

sqlite_store_data::found sqlite_store_data::find(const snapshot_ref& x) {
  rules::check(x);
  if (!x.session.empty()) {
    auto in = find(session_ref{x.agent, x.session});
    if (!in)
      rules::reject_unknown(x);
    auto what = x.sequence != 0 ? find(*in, x.sequence) : find(*in, x.id);
    if (!what || (!x.id.empty() && what->record.id != x.id))
      rules::reject_unknown(x);
    what->record.orphaned = !is_active(*in, what->record.sequence);
    return {std::move(*in), std::move(*what)};
  }

  std::vector<session> sessions;
  {
    const auto state = bytes_of_hex(x.id.str());
    std::vector<std::int64_t> keys;
    {
      auto rows = find_sessions_with_id_.bind(1, x.agent)
                    .bind(2, x.id.str())
                    .bind_blob(3, state)
                    .bind(4, std::uint64_t{rules::named_sessions + 1})
                    .rows();
      while (rows.next())
        keys.push_back(rows.number(0));
    }
    for (const auto key : keys)
      if (auto rows = read_session_.bind(1, key).rows(); rows.next()) {
        sessions.push_back(read_session(rows));
        if (!sessions.back().is_whole)
          reject(damage_of(sessions.back().info));
      }
  }
  if (sessions.size() > 1) {
    std::vector<std::string> names;
    names.reserve(sessions.size());
    for (const auto& in : sessions)
      names.push_back(in.info.id.str());
    rules::reject_ambiguous(x, std::move(names));
  }
  auto what = sessions.empty() ? std::nullopt : find(sessions.front(), x.id);
  if (!what)
    rules::reject_unknown(x);
  what->record.orphaned = !is_active(sessions.front(), what->record.sequence);
  return {std::move(sessions.front()), std::move(*what)};
}

// -- what is active -----------------------------------------------------------

std::vector<sqlite_store_data::stretch>
sqlite_store_data::active(const session& x, std::uint64_t until) {
  std::vector<stretch> result;
  auto last = x.info.head;
  while (last != 0) {
    // Where the way is damaged nobody knows how it goes on: what lies below
    // counts as active, because damage to one record must not hide another.
    stretch next{1, last};
    if (auto rows = run_of_.bind(1, x.key).bind(2, last).rows();
        rows.next() && rows.number(1) != 0)
      next.first = std::clamp<std::uint64_t>(rows.count(0), 1, last);
    result.push_back(next);
    if (next.first <= until)
      break;
    // Whoever is the first of the run by now knows where it hangs.
    auto rows = parent_of_.bind(1, x.key).bind(2, next.first).rows();
    last = next.first - 1;
    if (rows.next() && rows.number(1) != 0)
      last = std::min(rows.count(0), last);
  }
  return result;
}

bool sqlite_store_data::is_active(const session& x, std::uint64_t sequence) {
  if (x.info.head == 0)
    return false;
  const auto last = active(x, sequence).back();
  return last.first <= sequence && sequence <= last.last;
}

// -- writing ------------------------------------------------------------------

void sqlite_store_data::write(session& x) {
  const auto& info = x.info;
  if (x.key != 0) {
    update_session_.bind(1, x.key)
      .bind(2, to_number(info.updated_at))
      .bind(3, info.head)
      .bind(4, info.next_turn)
      .bind(5, info.records)
      .bind(6, x.last_sequence)
      .bind(7, x.state)
      .bind(8, info.title)
      .bind(9, info.preview)
      .bind(10, info.messages)
      .bind(11, info.bytes)
      .run();
    seal_session_.bind(1, x.key).run();
    return;
  }
  insert_session_.bind(1, info.agent)
    .bind(2, info.id.str())
    .bind(3, to_number(info.created_at))
    .bind(4, to_number(info.updated_at))
    .bind(5, info.head)
    .bind(6, info.next_turn)
    .bind(7, info.records)
    .bind(8, x.last_sequence)
    .bind(9, x.state)
    .bind(10, info.title)
    .bind(11, info.preview)
    .bind(12, info.messages)
    .bind(13, info.bytes)
    .run();
  x.key = db_.last_key();
  seal_session_.bind(1, x.key).run();
}

void sqlite_store_data::work_on(session& x, const state& content,
                                const state_id& id, std::int64_t base) {
  const auto old = x.state;
  rules::describe(x.info, content);
  const auto kept = states_.keep(content, id, {x.key, base, old});
  x.state = kept.key;
  write(x);
  states_.remember(x.key, content.messages(), kept.messages);
  if (old != 0 && old != kept.key)
    states_.release(old);
}

void sqlite_store_data::seal(const session& in, std::uint64_t sequence) {
  seal_record_.bind(1, in.key).bind(2, sequence).run();
}

void sqlite_store_data::write_labels(const session& in,
                                     const snapshot_record& x) {
  for (const auto& label : x.labels)
    insert_label_.bind(1, in.key).bind(2, x.sequence).bind(3, label).run();
}

// -- verbs of sessions --------------------------------------------------------

saved_snapshot sqlite_store_data::save(save_snapshot x) {
  rules::check(x);
  auto& made = x.record;
  const session_ref where{made.agent, made.session};
  auto known = find(where);
  std::optional<entry> parent;
  if (made.parent != 0) {
    if (known)
      parent = find(*known, made.parent);
    if (!parent)
      rules::reject_unknown(snapshot_ref{where, made.parent});
  }
  rules::check_place(x, known ? known->info.head : 0,
                     known ? known->last_sequence : 0);
  const auto as_it_was = x.where == append_rule::as_it_was;
  if (!as_it_was && parent && parent->record.state == made.state
      && parent->record.type == made.type) {
    parent->record.orphaned = !is_active(*known, parent->record.sequence);
    return {std::move(parent->record), false};
  }

  const auto now = caf::make_timestamp();
  auto in = known ? std::move(*known) : session{};
  auto& info = in.info;
  if (in.key == 0) {
    info.agent = made.agent;
    info.id = made.session;
    info.created_at = now;
  }
  if (!as_it_was) {
    made.sequence = in.last_sequence + 1;
    made.index = parent ? parent->record.index + 1 : 0;
  }
  in.last_sequence = made.sequence;
  made.parent_id = parent ? parent->record.id : snapshot_id{};
  made.orphaned = false;
  // Who branches off goes on from the messages that the parent has; everybody
  // else from those of the session.
  auto base = in.state;
  if (parent && made.parent != info.head) {
    states_.forget(in.key);
    base = parent->state;
  }
  info.updated_at = now;
  info.head = made.sequence;
  info.next_turn = next_turn_after(made);
  ++info.records;
  work_on(in, x.content, made.state, base);

  const auto follows = parent && made.parent + 1 == made.sequence;
  insert_record_.bind(1, in.key)
    .bind(2, made.sequence)
    .bind(3, in.state)
    .bind(4, made.parent)
    .bind(5, follows ? parent->run : made.sequence)
    .bind(6, made.index)
    .bind(7, made.turn_index)
    .bind(8, event_names.at(static_cast<std::size_t>(made.event)))
    .bind(9, to_number(made.created_at));
  if (made.id.str() == made.state.str())
    insert_record_.bind_null(10);
  else
    insert_record_.bind(10, made.id.str());
  if (made.note.empty())
    insert_record_.bind_null(11);
  else
    insert_record_.bind(11, made.note);
  insert_record_.run();
  write_labels(in, made);
  seal(in, made.sequence);
  return {std::move(made), true};
}

stored_snapshot sqlite_store_data::get(const get_snapshot& x) {
  auto [in, what] = find(x.which);
  if (x.wanted == detail_level::record)
    return stored_snapshot{std::move(what.record)};
  auto content = states_.load(what.state);
  if (what.state == in.state)
    states_.remember(in.key, content, in.state);
  return stored_snapshot{std::move(what.record), std::move(content)};
}

stored_snapshot sqlite_store_data::restore(const restore_snapshot& x) {
  auto [in, what] = find(x.which);
  auto content = states_.load(what.state);
  const auto old = in.state;
  in.state = what.state;
  in.info.head = what.record.sequence;
  in.info.next_turn = next_turn_after(what.record);
  in.info.updated_at = caf::make_timestamp();
  rules::describe(in.info, content);
  write(in);
  states_.remember(in.key, content, in.state);
  if (old != in.state)
    states_.release(old);
  what.record.orphaned = false;
  return stored_snapshot{std::move(what.record), std::move(content)};
}

snapshot_page sqlite_store_data::list(const list_snapshots& x) {
  rules::check(x.of);
  snapshot_page result;
  const auto in = find(x.of);
  if (!in)
    return result;
  const auto size = rules::page_size(x.limit);
  const auto after = clamped(x.after);
  const auto way = active(*in, after + 1);
  const auto is_on_the_way = [&](std::uint64_t sequence) {
    return std::any_of(way.begin(), way.end(), [&](const stretch& y) {
      return y.first <= sequence && sequence <= y.last;
    });
  };
  std::vector<std::int64_t> states;
  // One more than the page has says that there are more.
  const auto read = [&](std::uint64_t first, std::uint64_t last) {
    auto rows
      = find_records_.bind(1, in->key).bind(2, first).bind(3, last).rows();
    while (result.snapshots.size() <= size && rows.next()) {
      if (auto damaged = damage_in(*in, rows)) {
        add(result.damages, std::move(*damaged));
        continue;
      }
      auto next = read_entry(*in, rows);
      next.record.orphaned = !is_on_the_way(next.record.sequence);
      states.push_back(next.state);
      result.snapshots.emplace_back(std::move(next.record));
    }
  };
  if (x.with_orphans) {
    read(after + 1, std::numeric_limits<std::int64_t>::max());
  } else {
    for (auto i = way.rbegin();
         i != way.rend() && result.snapshots.size() <= size; ++i)
      if (i->last > after)
        read(std::max(i->first, after + 1), i->last);
  }
  if (result.snapshots.size() > size) {
    result.more = true;
    result.snapshots.pop_back();
  }
  if (x.wanted == detail_level::state) {
    sqlite_states::loaded last;
    for (std::size_t i = 0; i < result.snapshots.size(); ++i)
      result.snapshots[i].content = states_.load(states[i], &last);
  }
  return result;
}

stored_session sqlite_store_data::get(const get_session& x) {
  rules::check(x.which);
  const auto in = find(x.which);
  if (!in)
    rules::reject_unknown(x.which);
  stored_session result;
  result.info = in->info;
  std::optional<entry> head;
  if (in->info.head != 0) {
    head = find(*in, in->info.head);
    if (!head)
      reject_missing(in->info, in->info.head);
    result.head = stored_snapshot{head->record};
  }
  if (x.wanted == detail_level::state) {
    result.content = states_.load(in->state);
    states_.remember(in->key, result.content, in->state);
    if (head) {
      auto content
        = head->state == in->state ? result.content : states_.load(head->state);
      result.head
        = stored_snapshot{std::move(head->record), std::move(content)};
    }
  }
  return result;
}

session_info sqlite_store_data::save(save_session x) {
  rules::check(x);
  const auto now = caf::make_timestamp();
  auto in = find(x.which).value_or(session{});
  auto& info = in.info;
  if (in.key == 0) {
    info.agent = x.which.agent;
    info.id = x.which.id;
    info.created_at = now;
  }
  info.updated_at = now;
  info.next_turn = x.next_turn;
  work_on(in, x.content, x.content.id(), in.state);
  return info;
}

// -- verbs of people and programs ---------------------------------------------

template <class Fn>
void sqlite_store_data::for_each_session(const list_sessions& x, Fn fn) {
  auto& statement = x.agent.empty() ? list_sessions_ : list_sessions_of_;
  std::string_view after = x.after.id.str();
  if (x.agent.empty()) {
    statement.bind(1, x.after.agent);
  } else {
    if (x.after.agent > x.agent)
      return;
    if (x.after.agent < x.agent)
      after = {};
    statement.bind(1, x.agent);
  }
  auto rows = statement.bind(2, after)
                .bind(3, to_number(x.updated_since))
                .bind(4, x.label)
                .rows();
  while (rows.next())
    if (!fn(read_session(rows)))
      return;
}

session_page sqlite_store_data::list(const list_sessions& x) {
  session_page result;
  const auto size = rules::page_size(x.limit);
  for_each_session(x, [&](session next) {
    if (result.sessions.size() == size)
      result.more = true;
    else if (next.is_whole)
      result.sessions.push_back(std::move(next.info));
    else
      add(result.damages, damage_of(next.info));
    return !result.more;
  });
  return result;
}

snapshot_record sqlite_store_data::label(const label_snapshot& x) {
  auto [in, what] = find(x.which);
  auto& record = what.record;
  rules::relabel(record.labels, x.add, x.remove);
  erase_labels_.bind(1, in.key).bind(2, record.sequence).run();
  write_labels(in, record);
  seal(in, record.sequence);
  return std::move(record);
}

erased sqlite_store_data::erase(const delete_session& x) {
  rules::check(x.which);
  const auto in = find_any(x.which); // what is damaged can go, too
  if (!in)
    rules::reject_unknown(x.which);
  std::vector<std::int64_t> states;
  {
    auto rows = states_of_.bind(1, in->key).rows();
    while (rows.next())
      states.push_back(rows.number(0));
  }
  erase_records_.bind(1, in->key).run();
  const auto records = static_cast<std::uint64_t>(db_.changes());
  erase_session_.bind(1, in->key).run();
  states_.forget(in->key);
  erased result{records, release(states)};
  states_.release(in->state);
  return result;
}

erased sqlite_store_data::prune(const prune_snapshots& x) {
  rules::check(x);
  erased result;
  list_sessions all;
  all.agent = x.agent;
  all.limit = max_page;
  all.updated_since = caf::timestamp::min();
  const auto prune_one = [&](const session_ref& of) {
    if (auto in = find(of)) {
      const auto here = prune(*in, x);
      result.records += here.records;
      result.states += here.states;
    }
  };
  if (!x.session.empty()) {
    prune_one({x.agent, x.session});
    return result;
  }
  for (auto more = true; more;) {
    const auto page = list(all);
    if (!page.damages.empty())
      reject(page.damages.front());
    for (const auto& info : page.sessions)
      prune_one({info.agent, info.id});
    more = page.more;
    if (more)
      all.after = {page.sessions.back().agent, page.sessions.back().id};
  }
  return result;
}

erased sqlite_store_data::prune(session& x, const prune_snapshots& how) {
  expect_all_records(x); // who goes is decided by what they say
  const auto old = x.info.records - std::min(x.info.records, how.keep_newest);
  // Where a child of a dropped record goes. A parent is older than its
  // children, so it has been decided on when its children are looked at.
  std::unordered_map<std::uint64_t, std::uint64_t> heirs;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> moved;
  std::vector<std::uint64_t> dropped;
  std::vector<std::int64_t> states;
  {
    auto rows = outline_.bind(1, x.key).rows();
    for (std::uint64_t i = 0; rows.next(); ++i) {
      const auto sequence = rows.count(0);
      auto parent = rows.count(1);
      const auto heir = heirs.find(parent);
      const auto moves = heir != heirs.end();
      if (moves)
        parent = heir->second;
      if (i >= old || sequence == x.info.head || rows.number(4) != 0
          || to_time(rows.number(3)) >= how.created_before) {
        if (moves)
          moved.emplace_back(sequence, parent);
        continue;
      }
      heirs.emplace(sequence, parent);
      dropped.push_back(sequence);
      states.push_back(rows.number(2));
    }
  }
  if (dropped.empty())
    return {};
  for (const auto& [sequence, parent] : moved)
    move_record_.bind(1, x.key).bind(2, sequence).bind(3, parent).run();
  for (const auto sequence : dropped)
    erase_record_.bind(1, x.key).bind(2, sequence).run();
  for (const auto& [sequence, parent] : moved)
    seal(x, sequence);
  x.info.records -= dropped.size();
  write(x);
  std::sort(states.begin(), states.end());
  states.erase(std::unique(states.begin(), states.end()), states.end());
  return {dropped.size(), release(states)};
}

session_info sqlite_store_data::copy(const copy_session& x) {
  rules::check(x);
  const auto from = find(x.from);
  if (!from)
    rules::reject_unknown(x.from);
  expect_all_records(*from); // or the copy would say that all is well
  auto made = *from;
  std::vector<stretch> all;
  if (x.up_to == 0) {
    all.push_back({1, from->last_sequence});
  } else {
    const auto tip = find(*from, x.up_to);
    if (!tip)
      rules::reject_unknown(snapshot_ref{x.from, x.up_to});
    made.info.head = x.up_to;
    made.info.next_turn = next_turn_after(tip->record);
    made.last_sequence = x.up_to;
    made.state = tip->state;
    all = active(made, 0);
    try {
      rules::describe(made.info, states_.load(made.state));
    } catch (const status_error& error) {
      if (error.code() != errc::data_loss)
        throw;
      rules::describe(made.info, {}); // nobody knows what is in it
    }
  }
  if (find(x.to))
    rules::reject_existing(x.to);

  made.key = 0;
  made.info.agent = x.to.agent;
  made.info.id = x.to.id;
  made.info.created_at = caf::make_timestamp();
  made.info.updated_at = made.info.created_at;
  made.info.records = 0;
  write(made);
  for (const auto& [first, last] : all) {
    for (const auto statement : {&copy_records_, &copy_labels_})
      statement->bind(1, from->key)
        .bind(2, made.key)
        .bind(3, first)
        .bind(4, last);
    copy_records_.run();
    made.info.records += static_cast<std::uint64_t>(db_.changes());
    copy_labels_.run();
  }
  seal_records_.bind(1, made.key).run();
  write(made); // knows how many they are
  states_.remember_same(from->key, made.key, made.state);
  return made.info;
}

snapshot_record sqlite_store_data::annotate(const annotate_snapshot& x) {
  rules::check(x);
  auto [in, what] = find(x.which);
  write_note_.bind(1, in.key).bind(2, what.record.sequence);
  if (x.note.empty())
    write_note_.bind_null(3);
  else
    write_note_.bind(3, x.note);
  write_note_.run();
  seal(in, what.record.sequence);
  what.record.note = x.note;
  return std::move(what.record);
}

session_info sqlite_store_data::title(const title_session& x) {
  rules::check(x);
  auto in = find(x.which);
  if (!in)
    rules::reject_unknown(x.which);
  in->info.title = x.title;
  write(*in);
  return std::move(in->info);
}

// -- verifying ----------------------------------------------------------------

bool sqlite_store_data::inspection::take() {
  if (left == 0 || states.bytes >= max_verified_bytes) {
    page.more = true;
    return false;
  }
  --left;
  return true;
}

void sqlite_store_data::inspection::add(damage_kind kind, std::string what,
                                        state_id state) {
  page.damages.emplace_back(kind, page.last, page.last_record, std::move(state),
                            std::move(what));
}

verified_page sqlite_store_data::verify(const verify_sessions& x) {
  rules::check(x);
  inspection to;
  to.left = rules::page_size(x.limit);
  const auto fits = [&](const session_ref& y) {
    return (x.agent.empty() || y.agent == x.agent)
           && (x.session.empty() || y.id == x.session);
  };
  if (fits(x.after))
    if (const auto in = find_any(x.after);
        in && !verify_records(to, *in, clamped(x.after_record)))
      return std::move(to.page);

  if (!x.session.empty()) {
    const session_ref only{x.agent, x.session};
    if (x.after < only)
      if (const auto in = find_any(only); in && to.take()) {
        verify(to, *in);
        verify_records(to, *in, 0);
      }
    return std::move(to.page);
  }
  list_sessions all;
  all.agent = x.agent;
  all.after = x.after;
  all.updated_since = caf::timestamp::min();
  for_each_session(all, [&](const session& next) {
    if (!to.take())
      return false;
    verify(to, next);
    return verify_records(to, next, 0);
  });
  return std::move(to.page);
}

vacuumed sqlite_store_data::vacuum() {
  const auto size = [this] {
    return static_cast<std::uint64_t>(db_.number("PRAGMA page_count")
                                      * db_.number("PRAGMA page_size"));
  };
  const auto before = size();
  db_.run("VACUUM");
  // What is in the write-ahead log is not yet given back. If somebody reads
  // right now, the next checkpoint does that.
  db_.run("PRAGMA wal_checkpoint(TRUNCATE)");
  return {before, size()};
}

void sqlite_store_data::verify(inspection& to, const session& x) {
  const auto& info = x.info;
  ++to.page.sessions;
  to.page.last = {info.agent, info.id};
  to.page.last_record = 0;
  if (!x.is_whole) {
    to.add(damage_kind::corrupt, "what it says of itself is corrupt");
    return;
  }
  if (info.head != 0
      && !run_of_.bind(1, x.key).bind(2, info.head).rows().next())
    to.add(damage_kind::missing,
           "its head, record " + std::to_string(info.head) + ", is missing");
  if (auto rows = count_records_.bind(1, x.key).rows(); rows.next()) {
    if (rows.count(0) < info.records)
      to.add(damage_kind::missing, std::to_string(info.records - rows.count(0))
                                     + " of its " + std::to_string(info.records)
                                     + " records are missing");
    if (rows.count(0) > info.records || rows.count(1) > x.last_sequence)
      to.add(damage_kind::corrupt, "it has records that it does not know of");
  }
  verify_state(to, x.state);
}

bool sqlite_store_data::verify_records(inspection& to, const session& x,
                                       std::uint64_t after) {
  struct outline {
    std::uint64_t sequence = 0;
    std::uint64_t parent = 0;
    bool is_orphan = false;
    std::uint64_t run = 0;
    bool has_event = false;
    std::int64_t state = 0;
    bool is_whole = false;
  };
  std::vector<outline> all;
  {
    auto rows = verify_records_.bind(1, x.key)
                  .bind(2, after)
                  .bind(3, std::uint64_t{to.left + 1})
                  .rows();
    while (rows.next())
      all.push_back(
        {rows.count(0), rows.count(1), rows.number(2) != 0, rows.count(3),
         std::find(event_names.begin(), event_names.end(), rows.view(4))
           != event_names.end(),
         rows.number(5), rows.number(6) != 0});
  }
  for (const auto& record : all) {
    if (!to.take())
      return false;
    ++to.page.records;
    to.page.last = {x.info.agent, x.info.id};
    // What is damaged must not say where the next page begins.
    after = record.is_whole ? record.sequence : after + 1;
    to.page.last_record = after;
    if (!record.is_whole) {
      to.add(damage_kind::corrupt, "what it says of itself is corrupt");
      continue;
    }
    if (record.parent >= record.sequence)
      to.add(damage_kind::corrupt, "it is its own ancestor");
    else if (record.parent != 0 && record.is_orphan)
      to.add(damage_kind::missing, "its parent, record "
                                     + std::to_string(record.parent)
                                     + ", is missing");
    if (record.run == 0 || record.run > record.sequence)
      to.add(damage_kind::corrupt, "its run is none");
    if (!record.has_event)
      to.add(damage_kind::corrupt, "it has no known event");
    verify_state(to, record.state);
  }
  return true;
}

void sqlite_store_data::verify_state(inspection& to, std::int64_t key) {
  const auto found = states_.verify(key, to.states);
  if (found.damaged)
    to.add(*found.damaged, rules::text_of(*found.damaged, found.id), found.id);
}

std::uint64_t
sqlite_store_data::release(const std::vector<std::int64_t>& states) {
  std::uint64_t result = 0;
  for (const auto key : states) {
    if (states_.has_records(key))
      continue;
    ++result;
    states_.release(key);
  }
  return result;
}

} // namespace tertulia
