// SPDX-License-Identifier: BSD-3-Clause

#include "store_access.hpp"

#include <tertulia/json.hpp>
#include <tertulia/remote_store.hpp>
#include <tertulia/sqlite_store.hpp>

#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

#include "tool_failure.hpp"
#include <fmt/format.h>
#include <sqlite3.h>

namespace tertulia::tool {

namespace {

/// Returns whether a store could not be opened because another process has its
/// file.
bool is_in_use(const status_error& x) {
  if (x.code() != errc::unavailable)
    return false;
  const auto details = detail::document_or_null(x.details());
  if (!details.is_object())
    return false;
  if (const auto i = details.find("sqlite"); i != details.end())
    return i->is_number_integer() && (i->get<int>() & 0xff) == SQLITE_BUSY;
  return details.value("inUse", false);
}

void check(const std::filesystem::path& file, missing_store missing) {
  if (missing == missing_store::is_made)
    return;
  std::error_code unknown;
  const auto status = std::filesystem::status(file, unknown);
  if (status.type() == std::filesystem::file_type::not_found)
    throw failure{
      status_error{errc::not_found,
                   fmt::format("there is no file {}", file.string()),
                   json::object({{"file", file.string()}})
                     .dump(-1, ' ', false, json::error_handler_t::replace)},
      "Only \"tertulia sessions import\" creates a new one."};
  if (std::filesystem::is_directory(status))
    reject_usage(
      fmt::format("{} is a folder, not the file of a store", file.string()));
  if (std::filesystem::is_regular_file(status)
      && std::filesystem::file_size(file, unknown) == 0 && !unknown)
    throw failure{status_error{errc::failed_precondition,
                               fmt::format("{} is empty: it is not a store",
                                           file.string())}};
}

managed_store open(caf::actor_system& system, const std::filesystem::path& file,
                   missing_store missing, caf::timespan patience) {
  check(file, missing);
  sqlite_options options;
  options.patience = patience;
  // Caches no messages: a single command needs memory only for its output.
  options.remembered_messages = 0;
  try {
    return spawn_sqlite_store(system, file, options);
  } catch (const status_error& x) {
    if (!is_in_use(x))
      throw failure{x};
    throw failure{
      exit_code::in_use,
      status_error{errc::unavailable,
                   fmt::format("{} is in use by another process",
                               file.string()),
                   x.details()},
      "One process at a time can have a store: stop the other one, or wait for "
      "it with --wait 30s."};
  }
}

/// Returns advice for somebody who cannot connect.
std::string advice_for(const status_error& x) {
  switch (x.code()) {
    case errc::failed_precondition:
      return "If the program has several stores, add the key of an agent: "
             "--connect HOST:PORT/KEY.";
    case errc::unavailable:
      return "Check that the program runs there and publishes its runtime with "
             "the same transport.";
    default: return {};
  }
}

config& with_few_threads(config& x) {
  x.set("scheduler.max-threads", 1);
  return x;
}

} // namespace

store_access::store_access(const std::filesystem::path& file,
                           missing_store missing, caf::timespan patience)
  : file_(file), place_(file.string()), system_(with_few_threads(cfg_)),
    self_(system_), store_(open(system_, file, missing, patience)) {}

store_access::store_access(const program_address& where, caf::timespan within)
  : place_(where.place()), system_(with_network(with_few_threads(cfg_), where)),
    self_(system_) {
  try {
    program_.emplace(system_, where.host, where.port, within);
    // The errors of the search are thrown here.
    static_cast<void>(program_->store(where.key));
  } catch (const status_error& x) {
    throw failure{status_error{x.code(),
                               fmt::format("{}: {}", place_, x.message()),
                               x.details()},
                  advice_for(x)};
  }
  store_ = connect_store(system_, *program_, where.key, within);
}

store_access::~store_access() {
  self_->send_exit(store_, caf::exit_reason::user_shutdown);
  self_->wait_for(store_);
}

std::vector<damage>
store_access::each_session(list_sessions_request x,
                           const std::function<bool(const session_info&)>& fn) {
  std::vector<damage> damages;
  for (auto more = true; more;) {
    const auto page = ask<session_page>(x);
    damages.insert(damages.end(), page.damages.begin(), page.damages.end());
    for (const auto& y : page.sessions) {
      x.after = {y.agent, y.id};
      if (!fn(y))
        return damages;
    }
    more = page.more && !page.sessions.empty();
  }
  return damages;
}

std::vector<damage>
store_access::each_session(const std::string& agent,
                           const std::function<bool(const session_info&)>& fn) {
  list_sessions_request x;
  x.agent = agent;
  x.updated_since = caf::timestamp::min();
  x.limit = max_page;
  return each_session(std::move(x), fn);
}

std::vector<damage> store_access::each_record(
  const session_ref& session,
  const std::function<bool(const snapshot_record&)>& fn) {
  list_snapshots_request x{session};
  x.with_orphans = true;
  x.limit = max_page;
  std::vector<damage> damages;
  for (auto more = true; more;) {
    const auto page = ask<snapshot_page>(x);
    damages.insert(damages.end(), page.damages.begin(), page.damages.end());
    for (const auto& y : page.snapshots) {
      x.after = y.record.sequence;
      if (!fn(y.record))
        return damages;
    }
    more = page.more;
  }
  return damages;
}

std::string summary_of(const std::vector<damage>& damages) {
  auto result = damages.front().what;
  if (damages.size() > 1)
    result += fmt::format(", and {} more", damages.size() - 1);
  return result;
}

void expect_none(const std::vector<damage>& damages) {
  if (!damages.empty())
    throw failure{status_error{errc::data_loss, summary_of(damages)},
                  "\"tertulia verify\" looks for more damage."};
}

} // namespace tertulia::tool
