// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/caller.hpp>
#include <tertulia/json.hpp>
#include <tertulia/status.hpp>
#include <tertulia/store_rules.hpp>

#include <caf/timestamp.hpp>

#include <algorithm>
#include <optional>
#include <utility>

#include "store_data.hpp"
#include <fmt/format.h>

// Requests about kept runs.

namespace tertulia {

namespace {

/// Returns a run as it is read at a time.
stored_run as_read(stored_run x, timestamp now) {
  x.status = rules::status_at(x, now);
  return x;
}

std::optional<stored_run> find(store_data& data, const run_ref& wanted) {
  if (wanted.run) {
    auto found = data.tables().find_run(wanted.run);
    if (found && !wanted.agent.empty() && found->agent != wanted.agent)
      found.reset();
    return found;
  }
  list_runs_request query;
  query.agent = wanted.agent;
  query.session = wanted.session;
  std::optional<stored_run> result;
  data.tables().list_runs(query, nullptr, [&](stored_run x) {
    result = std::move(x);
    return false;
  });
  return result;
}

stored_run find_known(store_data& data, const run_ref& wanted) {
  rules::check(wanted);
  auto found = find(data, wanted);
  if (!found)
    throw status_error{
      errc::not_found,
      wanted.run ? fmt::format("there is no run {}", wanted.run.str())
                 : fmt::format("session {} has no run", wanted.session.str()),
      to_json_text(
        json{{"run", wanted.run.str()}, {"session", wanted.session.str()}})};
  return std::move(*found);
}

} // namespace

stored_run answer(store_data& data, save_run_request x) {
  rules::check(x);
  auto& run = x.run;
  const auto now = caf::make_timestamp();
  if (const auto known = data.tables().find_run(run.id)) {
    if (known->agent != run.agent)
      throw status_error{errc::already_exists,
                         fmt::format("run {} is one of {}", run.id.str(),
                                     known->agent)};
    if (known->status != run_status::running)
      return *known;
    run.began_at = known->began_at;
  } else {
    run.began_at = now;
    data.tables().erase_runs(run.agent, now - x.retention, now);
  }
  run.beat_at = now;
  run.ended_at = run.status == run_status::running ? timestamp{} : now;
  data.tables().write(run);
  return std::move(run);
}

stored_run answer(store_data& data, abort_run_request x) {
  auto found = find_known(data, x.target);
  const auto now = caf::make_timestamp();
  auto before = as_read(found, now);
  if (found.status != run_status::running)
    return before;
  found.status = run_status::aborted;
  found.code = errc::aborted;
  found.error = "the run was aborted";
  found.ended_at = now;
  data.tables().write(found);
  return before;
}

stored_run answer(store_data& data, get_run_request x) {
  return as_read(find_known(data, x.target), caf::make_timestamp());
}

run_page answer(store_data& data, list_runs_request x) {
  const auto now = caf::make_timestamp();
  const std::size_t limit = std::clamp(x.limit, 1u, max_page);
  if (x.caller)
    check_caller(x.caller);
  const auto is_foreign = [&](const stored_run& run) {
    return x.caller && !owns(x.caller, run.session);
  };
  std::optional<stored_run> after;
  if (x.after) {
    after = find(data, run_ref{x.agent, x.after});
    if (!after || is_foreign(*after))
      throw status_error{errc::not_found,
                         fmt::format("there is no run {}", x.after.str())};
  }
  run_page result;
  data.tables().list_runs(x, after ? &*after : nullptr, [&](stored_run next) {
    next = as_read(std::move(next), now);
    if (is_foreign(next) || (x.status && next.status != *x.status))
      return true;
    result.more = result.runs.size() == limit;
    if (!result.more)
      result.runs.push_back(std::move(next));
    return !result.more;
  });
  return result;
}

} // namespace tertulia
