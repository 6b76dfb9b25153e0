// SPDX-License-Identifier: BSD-3-Clause

#include <algorithm>
#include <utility>

#include "sqlite_tables.hpp"

namespace tertulia {

session_row sqlite_tables::read_session(const sqlite_statement::cursor& row,
                                        int column) {
  static const auto checksum
    = static_cast<int>(columns::names_of<session_row>().size());
  session_row result;
  result.is_whole = columns::read(result, row, column)
                    && row.number(column + checksum) == checksum_of(result)
                    && row.number(column + checksum + 1)
                         == columns::hour_of(result.info.updated_at);
  return result;
}

std::optional<session_row>
sqlite_tables::find_session(const session_ref& name) {
  auto rows = find_session_.bind_all(name.agent, name.id.str()).rows();
  if (!rows.next())
    return std::nullopt;
  return read_session(rows, 0);
}

std::optional<session_row> sqlite_tables::find_session(std::int64_t key) {
  auto rows = read_session_.bind(1, key).rows();
  if (!rows.next())
    return std::nullopt;
  return read_session(rows, 0);
}

std::int64_t sqlite_tables::add(const session_ref& name) {
  add_session_.bind_all(name.agent, name.id.str()).run();
  return db_.last_key();
}

void sqlite_tables::write(const session_row& x) {
  columns::binding values{write_session_};
  values.bind(x);
  write_session_.run();
  write_hour_.bind_all(x.key, columns::hour_of(x.info.updated_at)).run();
}

void sqlite_tables::erase(const session_row& x) {
  erase_records_.bind(1, x.key).run();
  erase_session_.bind(1, x.key).run();
}

// -- lists --------------------------------------------------------------------

void sqlite_tables::for_each_session(
  const session_ref& after, const std::function<bool(session_row)>& fn) {
  list_sessions_request all;
  all.after = after;
  all.updated_since = timestamp::min();
  list_sessions(all, fn);
}

void sqlite_tables::list_sessions(const list_sessions_request& wanted,
                                  const std::function<bool(session_row)>& fn) {
  const auto by_change = wanted.order == session_order::by_change;
  if (auto few = by_change ? std::nullopt : find_few(wanted)) {
    for (auto& next : *few)
      if (!fn(std::move(next)))
        return;
    return;
  }
  auto& statement = by_change              ? list_latest_sessions_of_
                    : wanted.agent.empty() ? list_sessions_
                                           : list_sessions_of_;
  std::string_view after = wanted.after.id.str();
  if (wanted.agent.empty()) {
    statement.bind(1, wanted.after.agent);
  } else {
    if (wanted.after.agent > wanted.agent)
      return;
    if (wanted.after.agent < wanted.agent)
      after = {};
    statement.bind(1, wanted.agent);
  }
  auto rows = statement.bind(2, after)
                .bind(3, columns::to_number(wanted.updated_since))
                .bind(4, wanted.label)
                .rows();
  while (rows.next()) {
    const session_ref name{rows.text(0), session_id{rows.text(1)}};
    auto next = read_session(rows, 2);
    if (next.name()
        != name) { // the row is missing, or the index contradicts it
      next.is_whole = false;
      next.key = 0;
      next.info.agent = name.agent;
      next.info.id = name.id;
    }
    if (!fn(std::move(next)))
      return;
  }
}

// -- leases -------------------------------------------------------------------

std::uint64_t sqlite_tables::add_lease(const session_ref& name) {
  add_lease_.bind_all(name.agent, name.id.str()).run();
  return static_cast<std::uint64_t>(db_.last_key());
}

std::uint64_t sqlite_tables::fence_of(const session_ref& name) {
  auto rows = find_lease_.bind_all(name.agent, name.id.str()).rows();
  return rows.next() ? rows.count(0) : 0;
}

void sqlite_tables::erase_lease(const session_ref& name) {
  erase_lease_.bind_all(name.agent, name.id.str()).run();
}

// -- lists --------------------------------------------------------------------

std::optional<std::vector<session_row>>
sqlite_tables::find_few(const list_sessions_request& x) {
  constexpr std::size_t most = max_page;
  std::vector<std::int64_t> keys;
  const auto selects_few = [&](sqlite_statement& by_index) {
    keys.clear();
    auto rows = by_index.bind(2, std::uint64_t{most + 1}).rows();
    while (rows.next())
      keys.push_back(rows.number(0));
    return keys.size() <= most;
  };
  const auto has_time = x.updated_since > timestamp{};
  if (!(!x.label.empty() && selects_few(labelled_sessions_.bind(1, x.label)))
      && !(has_time
           && selects_few(
             recent_sessions_.bind(1, columns::hour_of(x.updated_since)))))
    return std::nullopt;
  std::vector<session_row> result;
  for (const auto key : keys) {
    auto next = find_session(key);
    // One without a row has no name that could be listed.
    if (next && next->info.updated_at >= x.updated_since
        && (x.agent.empty() || next->info.agent == x.agent)
        && x.after < next->name()
        && (x.label.empty()
            || has_label_.bind(1, x.label).bind(2, key).rows().next()))
      result.push_back(std::move(*next));
  }
  std::sort(result.begin(), result.end(),
            [](const auto& y, const auto& z) { return y.name() < z.name(); });
  return result;
}

std::vector<session_row> sqlite_tables::sessions_with(const std::string& agent,
                                                      const snapshot_id& id,
                                                      std::size_t limit) {
  std::vector<std::int64_t> keys;
  {
    const auto state = columns::bytes_of_hex(id.str());
    auto rows = sessions_with_id_.bind(1, agent)
                  .bind(2, id.str())
                  .bind_blob(3, state)
                  .bind(4, std::uint64_t{limit})
                  .rows();
    while (rows.next())
      keys.push_back(rows.number(0));
  }
  std::vector<session_row> result;
  for (const auto key : keys)
    if (auto found = find_session(key))
      result.push_back(std::move(*found));
  return result;
}

} // namespace tertulia
