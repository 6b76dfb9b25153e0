// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/status.hpp>
#include <tertulia/store_rules.hpp>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include "damaged_log.hpp"
#include "sqlite_columns.hpp"
#include "sqlite_store_data.hpp"

namespace tertulia {

namespace {

/// Returns whether SQLite reports that the disk failed to read a page, which
/// SQLite counts as damage.
bool is_failed_read(const std::string& what) {
  constexpr std::string_view code = "error code=";
  if (const auto position = what.find(code); position != std::string::npos)
    return (std::atoi(what.c_str() + position + code.size()) & 0xff)
           == SQLITE_IOERR;
  return what.find("failed to get page") != std::string::npos;
}

/// Maximum number of bytes of messages and values that are hashed for one page,
/// which only the last item may exceed: about a tenth of a second.
constexpr std::uint64_t max_verified_bytes = 32u << 20u;

} // namespace

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

verification_page sqlite_store_data::answer(const verify_sessions_request& x) {
  rules::check(x);
  inspection to;
  to.left = rules::page_size(x.limit);
  if (x.agent.empty() && x.after == session_ref{})
    verify_file(to);
  const auto fits = [&](const session_ref& y) {
    return (x.agent.empty() || y.agent == x.agent)
           && (x.session.empty() || y.id == x.session);
  };
  if (fits(x.after))
    if (const auto in = find_any(x.after);
        in && !verify_records(to, *in, columns::clamped(x.after_record)))
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
  list_sessions_request all;
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

void sqlite_store_data::verify_file(inspection& to) {
  const auto add = [&](std::string what) {
    std::replace(what.begin(), what.end(), '\n', ' ');
    to.page.damages.emplace_back(damage_kind::corrupt, session_ref{}, 0,
                                 state_id{}, std::move(what));
  };
  if (const auto log = kept_log_of(db_.file()); std::filesystem::exists(log))
    add(log
        + " is a copy of a write-ahead log with transactions behind a"
          " damaged place, which are lost from the file; remove it when it is"
          " not needed any more");
  try {
    sqlite_statement check{db_, "PRAGMA integrity_check(100)"};
    auto rows = check.rows();
    while (rows.next()) {
      auto what = rows.text(0);
      if (is_failed_read(what))
        throw status_error{errc::unavailable, db_.file() + ": " + what};
      if (what != "ok")
        add(std::move(what));
    }
  } catch (const status_error& error) {
    if (error.code() != errc::data_loss)
      throw;
    add(error.what());
  }
}

void sqlite_store_data::verify(inspection& to, const session& x) {
  const auto& info = x.info;
  ++to.page.sessions;
  to.page.last = {info.agent, info.id};
  to.page.last_record = 0;
  if (!x.is_whole) {
    to.add(damage_kind::corrupt, "its row is corrupt");
    return;
  }
  if (info.head != 0 && !run_of_.bind_all(x.key, info.head).rows().next())
    to.add(damage_kind::missing,
           "its head, record " + std::to_string(info.head) + ", is missing");
  if (auto rows = count_records_.bind(1, x.key).rows(); rows.next()) {
    if (rows.count(0) < info.records)
      to.add(damage_kind::missing, std::to_string(info.records - rows.count(0))
                                     + " of its " + std::to_string(info.records)
                                     + " records are missing");
    if (rows.count(0) > info.records || rows.count(1) > x.last_sequence)
      to.add(damage_kind::corrupt, "it has more records than it counts");
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
    auto rows
      = verify_records_.bind_all(x.key, after, std::uint64_t{to.left + 1})
          .rows();
    while (rows.next())
      all.push_back({rows.count(0), rows.count(1), rows.number(2) != 0,
                     rows.count(3), columns::to_event(rows.view(4)).has_value(),
                     rows.number(5), rows.number(6) != 0});
  }
  for (const auto& record : all) {
    if (!to.take())
      return false;
    ++to.page.records;
    to.page.last = {x.info.agent, x.info.id};
    // A damaged record must not determine where the next page begins.
    after = record.is_whole ? record.sequence : after + 1;
    to.page.last_record = after;
    if (!record.is_whole) {
      to.add(damage_kind::corrupt, "its row is corrupt");
      continue;
    }
    if (record.parent >= record.sequence)
      to.add(damage_kind::corrupt, "it is its own ancestor");
    else if (record.parent != 0 && record.is_orphan)
      to.add(damage_kind::missing, "its parent, record "
                                     + std::to_string(record.parent)
                                     + ", is missing");
    if (record.run == 0 || record.run > record.sequence)
      to.add(damage_kind::corrupt, "its run is invalid");
    if (!record.has_event)
      to.add(damage_kind::corrupt, "its event is unknown");
    verify_state(to, record.state);
  }
  return true;
}

void sqlite_store_data::verify_state(inspection& to, std::int64_t key) {
  const auto found = states_.verify(key, to.states);
  if (found.damaged)
    to.add(*found.damaged, rules::text_of(*found.damaged, found.id), found.id);
}

} // namespace tertulia
