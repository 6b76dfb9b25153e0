// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/status.hpp>
#include <tertulia/store_rules.hpp>

#include <caf/timestamp.hpp>

#include <algorithm>
#include <string_view>
#include <utility>

#include "sqlite_columns.hpp"
#include "sqlite_store_data.hpp"

// Requests that manage sessions from outside.

namespace tertulia {

void sqlite_store_data::for_each_session(
  const list_sessions_request& x, const std::function<bool(session)>& fn) {
  const auto by_change = x.order == session_order::by_change;
  if (auto few = by_change ? std::nullopt : find_few(x)) {
    for (auto& next : *few)
      if (!fn(std::move(next)))
        return;
    return;
  }
  auto& statement = by_change         ? list_latest_sessions_of_
                    : x.agent.empty() ? list_sessions_
                                      : list_sessions_of_;
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
                .bind(3, columns::to_number(x.updated_since))
                .bind(4, x.label)
                .rows();
  while (rows.next())
    if (!fn(read_session(rows)))
      return;
}

std::optional<std::vector<sqlite_store_data::session>>
sqlite_store_data::find_few(const list_sessions_request& x) {
  constexpr std::size_t most = max_page;
  std::vector<std::int64_t> keys;
  const auto selects_few = [&](sqlite_statement& by_index) {
    keys.clear();
    auto rows = by_index.bind(2, std::uint64_t{most + 1}).rows();
    while (rows.next())
      keys.push_back(rows.number(0));
    return keys.size() <= most;
  };
  const auto has_time = x.updated_since > caf::timestamp{};
  if (!(!x.label.empty() && selects_few(labelled_sessions_.bind(1, x.label)))
      && !(has_time
           && selects_few(
             recent_sessions_.bind(1, columns::hour_of(x.updated_since)))))
    return std::nullopt;
  const auto name_of = [](const session& y) {
    return session_ref{y.info.agent, y.info.id};
  };
  std::vector<session> result;
  for (const auto key : keys) {
    auto rows = read_session_.bind(1, key).rows();
    if (!rows.next())
      continue; // it has no name that could be listed
    auto next = read_session(rows);
    if (next.info.updated_at >= x.updated_since
        && (x.agent.empty() || next.info.agent == x.agent)
        && x.after < name_of(next)
        && (x.label.empty()
            || has_label_.bind(1, x.label).bind(2, key).rows().next()))
      result.push_back(std::move(next));
  }
  std::sort(result.begin(), result.end(), [&](const auto& y, const auto& z) {
    return name_of(y) < name_of(z);
  });
  return result;
}

session_page sqlite_store_data::answer(const list_sessions_request& x) {
  rules::check(x);
  session_page result;
  const auto size = rules::page_size(x.limit);
  try {
    for_each_session(x, [&](session next) {
      if (result.sessions.size() == size)
        result.more = true;
      else if (next.is_whole)
        result.sessions.push_back(std::move(next.info));
      else
        columns::add(result.damages, columns::damage_of(next.info));
      return !result.more;
    });
  } catch (const status_error& error) {
    if (error.code() != errc::data_loss || result.sessions.size() < size)
      throw;
    result.more = true; // the next page reports the error
  }
  return result;
}

snapshot_record sqlite_store_data::answer(const label_snapshot_request& x) {
  auto [in, what] = find(x.target);
  auto& record = what.record;
  rules::relabel(record.labels, x.add, x.remove);
  erase_labels_.bind_all(in.key, record.sequence).run();
  write_labels(in, record);
  seal(in, record.sequence);
  return std::move(record);
}

erase_result sqlite_store_data::answer(const delete_session_request& x) {
  rules::check_known(x.target);
  const auto in = find_any(x.target); // damaged sessions, too
  if (!in)
    rules::reject_unknown(x.target);
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
  erase_result result{records, release(states)};
  states_.release(in->state);
  return result;
}

session_info sqlite_store_data::answer(const copy_session_request& x) {
  rules::check(x);
  const auto from = find(x.from);
  if (!from)
    rules::reject_unknown(x.from);
  auto made = *from;
  std::vector<stretch> all;
  if (x.up_to == 0) {
    expect_all_records(*from); // else the copy would hide damage
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
    expect_way(*from, all);
    try {
      rules::describe(made.info, states_.load(made.state));
    } catch (const status_error& error) {
      if (error.code() != errc::data_loss)
        throw;
      rules::describe(made.info, {}); // its content is unknown
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
      statement->bind_all(from->key, made.key, first, last);
    copy_records_.run();
    made.info.records += static_cast<std::uint64_t>(db_.changes());
    copy_labels_.run();
  }
  seal_records_.bind(1, made.key).run();
  write(made); // now with the number of records
  states_.remember_same(from->key, made.key, made.state);
  return made.info;
}

snapshot_record sqlite_store_data::answer(const annotate_snapshot_request& x) {
  rules::check(x);
  auto [in, what] = find(x.target);
  write_note_.bind_all(in.key, what.record.sequence);
  if (x.note.empty())
    write_note_.bind_null(3);
  else
    write_note_.bind(3, x.note);
  write_note_.run();
  seal(in, what.record.sequence);
  what.record.note = x.note;
  return std::move(what.record);
}

session_info sqlite_store_data::answer(const title_session_request& x) {
  rules::check(x);
  auto in = find(x.target);
  if (!in)
    rules::reject_unknown(x.target);
  in->info.title = x.title;
  write(*in);
  return std::move(in->info);
}

vacuum_result sqlite_store_data::answer(const vacuum_store_request&) {
  const auto size = [this] {
    return static_cast<std::uint64_t>(db_.number("PRAGMA page_count")
                                      * db_.number("PRAGMA page_size"));
  };
  const auto before = size();
  hold_.expect_in_place();
  db_.run("VACUUM");
  // VACUUM copies indexes as they are. An index that contains a flipped bit is
  // rebuilt from the rows, unless a row is damaged itself: then the index may
  // be the only place that still has the name of the row.
  if (db_.text("PRAGMA integrity_check(1)") != "ok"
      && !has_damaged_rows_.rows().next()) {
    db_.run("REINDEX");
    db_.run("VACUUM");
  }
  // Space is released only when the write-ahead log is written back. If another
  // program reads now, the next checkpoint does that.
  db_.run("PRAGMA wal_checkpoint(TRUNCATE)");
  return {before, size()};
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
