// SPDX-License-Identifier: BSD-3-Clause

#include "sqlite_migration.hpp"

#include <tertulia/detail/text.hpp>
#include <tertulia/store_rows.hpp>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sqlite_checksum.hpp"
#include "sqlite_columns.hpp"

namespace tertulia {

namespace {

/// Columns of a state in version 3, all of them NULL if it is missing.
constexpr const char* state_columns
  = "t.id, t.form, t.branch, t.length, t.custom, t.artifacts, t.type_name,"
    " t.type_version, t.checksum = " TERTULIA_STATE_CHECKSUM("t");

/// Number of the last columns of a row that version 4 does not have: the inputs
/// and the turns of a session; the finish reason and the inputs of a record.
template <class Row>
constexpr std::size_t columns_after_version_4
  = std::is_same_v<Row, session_row> ? 3 : 2;

class copy_of_version_3 {
public:
  explicit copy_of_version_3(sqlite_db& db) : db_(db) {}

  void run() {
    // First, because the checksums of records cover their labels.
    db_.run("INSERT INTO labels SELECT * FROM old_labels");
    read_branches();
    copy_sessions();
    copy_records();
    write_branches();
    write_shares();
  }

private:
  struct old_branch {
    std::int64_t parent = 0;
    std::uint64_t start = 0;
    std::int64_t owner = 0; ///< the first session that needs it
  };

  void read_branches() {
    sqlite_statement all{db_, "SELECT key, parent, start FROM old_branches"};
    for (auto row = all.rows(); row.next();)
      branches_[row.number(0)] = {row.number(1), row.count(2), 0};
  }

  /// Reads a state, and makes the session need its messages and values.
  /// @returns the state, if it is as it was written.
  std::optional<content_row> read_state(const sqlite_statement::cursor& row,
                                        int column, std::int64_t session) {
    content_row result;
    const auto id = row.view(column);
    if (!id.empty())
      result.id = state_id{detail::to_hex(
        {reinterpret_cast<const std::uint8_t*>(id.data()), id.size()})};
    const auto form = row.number(column + 1);
    result.form = form == 0 ? state_form::plain : state_form::conversation;
    result.messages = {row.number(column + 2), row.count(column + 3)};
    need(result.messages, session);
    result.custom = need_value(row.number(column + 4), session);
    result.artifacts = need_value(row.number(column + 5), session);
    const auto name = row.view(column + 6);
    const auto version = row.number(column + 7);
    const auto has_type
      = detail::is_type_name(name) && version > 0
        && version <= std::numeric_limits<std::uint32_t>::max();
    if (has_type)
      result.type = stored_type{name, static_cast<std::uint32_t>(version)};
    if (!has_type || row.number(column + 8) == 0 || form < 0 || form > 1)
      return std::nullopt;
    return result;
  }

  void need(log_place x, std::int64_t session) {
    while (x.branch != 0) {
      const auto found = branches_.find(x.branch);
      if (found == branches_.end() || found->second.parent >= x.branch)
        return;
      auto& [parent, start, owner] = found->second;
      if (owner == 0)
        owner = session;
      auto& length = shares_[{x.branch, session}];
      if (length >= x.length)
        return; // and so are those of its ancestors
      length = x.length;
      x = {parent, start};
    }
  }

  /// Returns the key of a value, which the first session that needs it owns.
  std::int64_t need_value(std::int64_t old, std::int64_t session) {
    if (old == 0)
      return 0;
    const auto [found, is_new] = values_.try_emplace(old, 0);
    if (is_new) {
      found->second = (session << 32) + values_of_[session]++;
      copy_value_.bind_all(old, found->second).run();
    }
    shares_[{found->second, session}] = 1;
    return found->second;
  }

  /// Writes a row and its checksum, which does not match if the row was
  /// damaged.
  template <class Row>
  static void write(sqlite_statement& to, const Row& x, bool is_whole) {
    columns::binding values{to};
    values.bind(x);
    if (!is_whole)
      to.bind(static_cast<int>(columns::names_of<Row>().size()) + 1,
              ~checksum_of(x));
    to.run();
  }

  void copy_sessions() {
    auto names = columns::names_of<session_row>();
    const auto checksum = names.size() + 1;
    const auto hour = static_cast<int>(checksum) + 1;
    names.resize(names.size() - columns_after_version_4<session_row>);
    sqlite_statement add{db_, "INSERT INTO sessions (" + columns::list_of(names)
                                + ", checksum, updated_hour) VALUES ("
                                + columns::places_for(names.size()) + ", ?"
                                + std::to_string(checksum) + ", ?"
                                + std::to_string(hour) + ')'};
    sqlite_statement all{
      db_, std::string{"SELECT s.key, s.agent, s.id, s.created_at,"
                       " s.updated_at, s.head, s.next_turn, s.last_sequence,"
                       " s.records, s.title, s.preview, s.messages, s.bytes,"
                       " s.updated_hour, s.updated_hour = s.updated_at"
                       " / 3600000000000 AND s.checksum"
                       " = " TERTULIA_SESSION_CHECKSUM("s") ", "}
             + state_columns
             + " FROM old_sessions s LEFT JOIN old_states t"
               " ON t.key = s.state ORDER BY s.key"};
    for (auto row = all.rows(); row.next();) {
      session_row next;
      next.key = row.number(0);
      next.info.agent = row.text(1);
      next.info.id = session_id{row.text(2)};
      next.info.created_at = to_time(row.number(3));
      next.info.updated_at = to_time(row.number(4));
      next.info.head = row.count(5);
      next.info.next_turn = row.count(6);
      next.last_sequence = row.count(7);
      next.info.records = row.count(8);
      next.info.title = row.text(9);
      next.info.preview = row.text(10);
      next.info.messages = row.count(11);
      next.info.bytes = row.count(12);
      next.sealed = session_row::not_owned;
      auto content = read_state(row, 15, next.key);
      const auto is_whole = row.number(14) != 0 && content;
      if (content)
        next.content = std::move(*content);
      add.bind(hour, row.number(13));
      write(add, next, is_whole);
    }
  }

  void copy_records() {
    auto names = columns::names_of<record_row>();
    const auto checksum = std::to_string(names.size() + 1);
    names.resize(names.size() - columns_after_version_4<record_row>);
    sqlite_statement add{db_, "INSERT INTO records (" + columns::list_of(names)
                                + ", checksum) VALUES ("
                                + columns::places_for(names.size()) + ", ?"
                                + checksum + ')'};
    sqlite_statement labels{db_, "SELECT label FROM old_labels WHERE"
                                 " session = ?1 AND sequence = ?2"
                                 " ORDER BY label"};
    sqlite_statement all{
      db_, std::string{"SELECT r.session, r.sequence, r.parent, r.run, r.depth,"
                       " r.turn_index, r.event, r.created_at, r.own_id, r.note,"
                       " r.checksum = " TERTULIA_RECORD_CHECKSUM("r") ", "}
             + state_columns
             + " FROM old_records r JOIN old_sessions s ON s.key = r.session"
               " LEFT JOIN old_states t ON t.key = r.state"
               " ORDER BY r.session, r.sequence"};
    for (auto row = all.rows(); row.next();) {
      record_row next;
      next.session = row.number(0);
      next.sequence = row.count(1);
      next.parent = row.count(2);
      next.run = row.count(3);
      next.index = row.count(4);
      next.turn_index = row.count(5);
      const auto event = columns::to_event(row.view(6));
      next.event = event.value_or(snapshot_event::turn_end);
      next.created_at = to_time(row.number(7));
      next.own_id = snapshot_id{row.text(8)};
      next.note = row.text(9);
      for (auto i = labels.bind_all(next.session, next.sequence).rows();
           i.next();)
        next.labels.push_back(i.text(0));
      auto content = read_state(row, 11, next.session);
      const auto is_whole = row.number(10) != 0 && event && content;
      if (content)
        next.content = std::move(*content);
      write(add, next, is_whole);
    }
  }

  void write_branches() {
    sqlite_statement add{db_, "INSERT INTO branches (key, owner, parent, start)"
                              " VALUES (?1, ?2, ?3, ?4)"};
    for (const auto& [key, x] : branches_)
      add.bind_all(key, x.owner, x.parent, x.start).run();
  }

  void write_shares() {
    sqlite_statement add{db_, "INSERT INTO shares (item, session, length)"
                              " VALUES (?1, ?2, ?3)"};
    for (const auto& [what, length] : shares_) {
      const auto& [item, session] = what;
      const auto branch = branches_.find(item);
      const auto owner
        = branch != branches_.end() ? branch->second.owner : item >> 32;
      if (owner != session)
        add.bind_all(item, session, length).run();
    }
  }

  static timestamp to_time(std::int64_t x) {
    return timestamp{timestamp::duration{x}};
  }

  sqlite_db& db_;
  std::map<std::int64_t, old_branch> branches_;
  /// New keys of values.
  std::unordered_map<std::int64_t, std::int64_t> values_;
  /// Number of values that a session owns.
  std::unordered_map<std::int64_t, std::int64_t> values_of_;
  /// Number of messages that a session needs of a branch; 1 for a value.
  std::map<std::pair<std::int64_t, std::int64_t>, std::uint64_t> shares_;
  sqlite_statement copy_value_{
    db_, "INSERT INTO blobs (key, hash, text)"
         " SELECT ?2, hash, text FROM old_blobs WHERE key = ?1"};
};

} // namespace

void copy_rows_of_version_3(sqlite_db& db) {
  copy_of_version_3{db}.run();
}

} // namespace tertulia
