// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/status.hpp>
#include <tertulia/store_rules.hpp>

#include <algorithm>
#include <utility>

#include "sqlite_columns.hpp"
#include "sqlite_store_data.hpp"

// Lookup of sessions and records in a file, and of the active records.

namespace tertulia {

// -- finding ------------------------------------------------------------------

sqlite_store_data::session
sqlite_store_data::read_session(const sqlite_statement::cursor& row) {
  session result;
  result.key = row.number(0);
  result.info.agent = row.text(1);
  result.info.id = session_id{row.text(2)};
  result.info.created_at = columns::to_time(row.number(3));
  result.info.updated_at = columns::to_time(row.number(4));
  result.info.head = row.count(5);
  result.info.next_turn = row.count(6);
  result.info.records = row.count(7);
  result.last_sequence = row.count(8);
  result.state = row.number(9);
  result.info.title = row.text(10);
  result.info.preview = row.text(11);
  result.info.messages = row.count(12);
  result.info.bytes = row.count(13);
  result.updated_hour = row.number(14);
  result.is_whole = row.number(15) != 0;
  return result;
}

std::optional<sqlite_store_data::session>
sqlite_store_data::find_any(const session_ref& x) {
  auto rows = find_session_.bind_all(x.agent, x.id.str()).rows();
  if (!rows.next())
    return std::nullopt;
  auto result = read_session(rows);
  if (result.info.agent != x.agent || result.info.id != x.id) {
    result.info.agent = x.agent;
    result.info.id = x.id;
    columns::reject(columns::damage_of(result.info));
  }
  return result;
}

std::optional<sqlite_store_data::session>
sqlite_store_data::find(const session_ref& x) {
  auto result = find_any(x);
  if (result && !result->is_whole)
    columns::reject(columns::damage_of(result->info));
  return result;
}

bool sqlite_store_data::is_whole_record(const sqlite_statement::cursor& row) {
  return row.number(15) != 0 && columns::to_event(row.view(4)).has_value();
}

std::optional<damage>
sqlite_store_data::damage_in(const session& in,
                             const sqlite_statement::cursor& row) {
  const auto because = [&](damage_kind kind, const char* what) {
    return columns::damage_of(kind, in.info, row.count(0), what);
  };
  if (!is_whole_record(row))
    return because(damage_kind::corrupt, "is corrupt");
  if (row.is_null(9))
    return because(damage_kind::missing, "refers to a state that is missing");
  if (row.number(16) == 0 || !columns::type_of(row.view(13), row.number(14)))
    return because(damage_kind::corrupt, "refers to a state that is corrupt");
  return std::nullopt;
}

sqlite_store_data::entry
sqlite_store_data::read_entry(const session& in,
                              const sqlite_statement::cursor& row) {
  if (const auto damaged = damage_in(in, row))
    columns::reject(*damaged);
  entry result;
  auto& x = result.record;
  x.agent = in.info.agent;
  x.session = in.info.id;
  x.sequence = row.count(0);
  x.state = state_id{columns::hex_of_bytes(row.view(9))};
  x.type = columns::type_of(row.view(13), row.number(14)).value();
  x.id = columns::id_of(row.view(6), row.view(9));
  x.parent = row.count(1);
  if (row.number(17) != 0) // else the id of the parent is unknown
    x.parent_id = columns::id_of(row.view(10), row.view(11));
  x.index = row.count(2);
  x.turn_index = row.count(3);
  x.event = columns::to_event(row.view(4)).value();
  x.created_at = columns::to_time(row.number(5));
  result.run = row.count(7);
  result.state = row.number(8);
  x.note = row.text(12);
  auto labels = labels_of_.bind_all(in.key, x.sequence).rows();
  while (labels.next())
    x.labels.push_back(labels.text(0));
  return result;
}

std::optional<sqlite_store_data::entry>
sqlite_store_data::find(const session& in, std::uint64_t sequence) {
  auto rows = find_record_.bind_all(in.key, columns::clamped(sequence)).rows();
  if (rows.next())
    return read_entry(in, rows);
  if (sequence <= in.last_sequence)
    expect_all_records(in);
  return std::nullopt;
}

void sqlite_store_data::expect_all_records(const session& in) {
  auto rows = count_whole_.bind(1, in.key).rows();
  const auto whole = rows.next() ? rows.count(0) : 0;
  if (whole == in.info.records)
    return;
  auto what = "has " + std::to_string(in.info.records) + " records, of which "
              + std::to_string(whole) + " can be read";
  if (auto damaged = find_damaged_.bind(1, in.key).rows(); damaged.next())
    what += ": record " + std::to_string(damaged.count(0)) + " is corrupt";
  columns::reject(columns::damage_of(damage_kind::corrupt, in.info, 0, what));
}

void sqlite_store_data::expect_way(const session& in,
                                   const std::vector<stretch>& way) {
  std::uint64_t before = 0;
  for (auto i = way.rbegin(); i != way.rend(); ++i) {
    auto rows = outline_.bind_all(in.key, i->first, i->last).rows();
    while (rows.next()) {
      const auto sequence = rows.count(0);
      const auto parent = rows.count(1);
      if (rows.number(2) == 0)
        columns::reject(columns::damage_of(damage_kind::corrupt, in.info,
                                           sequence, "is corrupt"));
      if (parent != before) // each record on a path follows the one before
        columns::reject(columns::damage_of(damage_kind::missing, in.info,
                                           parent, "is missing"));
      before = sequence;
    }
  }
}

std::optional<sqlite_store_data::entry>
sqlite_store_data::find(const session& in, const snapshot_id& id) {
  std::uint64_t newest = 0;
  const auto state = columns::bytes_of_hex(id.str());
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
      columns::reject(
        columns::damage_of(in.info)); // the index contradicts the record
    return result;
  }
  expect_all_records(in); // it might be an unreadable one
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
    const auto state = columns::bytes_of_hex(x.id.str());
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
          columns::reject(columns::damage_of(sessions.back().info));
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

// -- active records -----------------------------------------------------------

namespace {

/// Returns the first column of a row whose second column says that the row is
/// undamaged; nothing if it is damaged, or if SQLite cannot read it.
std::optional<std::uint64_t> number_of_whole(sqlite_statement& x) {
  try {
    auto rows = x.rows();
    if (rows.next() && rows.number(1) != 0)
      return rows.count(0);
  } catch (const status_error& error) {
    if (error.code() != errc::data_loss)
      throw;
  }
  return std::nullopt;
}

} // namespace

std::vector<sqlite_store_data::stretch>
sqlite_store_data::active(const session& x, std::uint64_t until) {
  std::vector<stretch> result;
  auto last = x.info.head;
  while (last != 0) {
    // If the path is damaged, its continuation is unknown. The records below
    // count as active, because damage to one record must not hide another.
    stretch next{1, last};
    if (const auto run = number_of_whole(run_of_.bind_all(x.key, last)))
      next.first = std::clamp<std::uint64_t>(*run, 1, last);
    result.push_back(next);
    if (next.first <= until)
      break;
    // The first remaining record of the run has the parent at which the path
    // continues.
    last = next.first - 1;
    if (const auto parent
        = number_of_whole(parent_of_.bind_all(x.key, next.first)))
      last = std::min(*parent, last);
  }
  return result;
}

bool sqlite_store_data::is_active(const session& x, std::uint64_t sequence) {
  if (x.info.head == 0)
    return false;
  const auto last = active(x, sequence).back();
  return last.first <= sequence && sequence <= last.last;
}

} // namespace tertulia
