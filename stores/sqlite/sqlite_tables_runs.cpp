// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/status.hpp>

#include <cstdint>
#include <limits>

#include "sqlite_columns.hpp"
#include "sqlite_tables.hpp"
#include <fmt/format.h>

// Table of the kept runs. Its rows have no checksum: a run is of use while it
// lives, and for as long as somebody may ask how it has ended.

namespace tertulia {

namespace {

timestamp time_at(const sqlite_statement::cursor& row, int column) {
  return timestamp{timestamp::duration{row.number(column)}};
}

stored_run run_at(const sqlite_statement::cursor& row) {
  stored_run result;
  result.id = run_id{row.text(0)};
  result.agent = row.text(1);
  result.session = session_id{row.text(2)};
  result.status = static_cast<run_status>(row.number(3));
  result.snapshot = snapshot_id{row.text(4)};
  result.code = static_cast<errc>(row.number(5));
  result.error = row.text(6);
  result.owner = row.text(7);
  result.beat = caf::timespan{row.number(8)};
  result.began_at = time_at(row, 9);
  result.beat_at = time_at(row, 10);
  result.ended_at = time_at(row, 11);
  if (row.count(3) > static_cast<std::uint64_t>(run_status::aborted)
      || row.count(5) > static_cast<std::uint64_t>(last_errc))
    throw status_error{errc::data_loss,
                       fmt::format("run {} is damaged", result.id.str())};
  return result;
}

} // namespace

void sqlite_tables::write(const stored_run& x) {
  write_run_
    .bind_all(x.id.str(), x.agent, x.session.str(),
              static_cast<std::int64_t>(x.status), x.snapshot.str(),
              static_cast<std::int64_t>(x.code), x.error, x.owner,
              std::int64_t{x.beat.count()}, columns::to_number(x.began_at),
              columns::to_number(x.beat_at), columns::to_number(x.ended_at))
    .run();
}

std::optional<stored_run> sqlite_tables::find_run(const run_id& id) {
  auto rows = find_run_.bind_all(id.str()).rows();
  if (!rows.next())
    return std::nullopt;
  return run_at(rows);
}

void sqlite_tables::list_runs(const list_runs_request& wanted,
                              const stored_run* after,
                              const std::function<bool(stored_run)>& fn) {
  auto& all = wanted.agent.empty() ? list_runs_
              : wanted.session     ? runs_of_session_
              : wanted.caller      ? runs_of_caller_
                                   : list_runs_;
  const auto& chosen
    = &all == &runs_of_caller_ ? wanted.caller.str() : wanted.session.str();
  const auto began_at = after != nullptr
                          ? columns::to_number(after->began_at)
                          : std::numeric_limits<std::int64_t>::max();
  const auto last
    = after != nullptr ? std::string_view{after->id.str()} : std::string_view{};
  auto rows = all.bind_all(wanted.agent, chosen, began_at, last).rows();
  while (rows.next())
    if (!fn(run_at(rows)))
      return;
}

void sqlite_tables::erase_runs(const std::string& agent, timestamp before,
                               timestamp now) {
  const auto until = columns::to_number(before);
  for (auto* statement : {&erase_ended_runs_, &erase_lost_runs_})
    statement
      ->bind_all(agent, until, columns::to_number(now),
                 std::int64_t{max_missed_beats})
      .run();
}

} // namespace tertulia
