// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/detail/run_registry.hpp>
#include <tertulia/status.hpp>

#include <caf/actor_cast.hpp>
#include <caf/timestamp.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>

#include <fmt/format.h>

namespace tertulia::detail {

std::unique_ptr<run_registry::registration>
run_registry::add(stored_run run, const caller_name& caller,
                  const caf::actor_addr& by) {
  return std::make_unique<registration>(*this, std::move(run), caller, by);
}

run_registry::registration::registration(run_registry& of, stored_run run,
                                         const caller_name& caller,
                                         const caf::actor_addr& by)
  : registry_(of), run_(run.id),
    session_(run.session ? name_of(run.agent, run.session) : std::string{}),
    places_{{run.agent, caller, run.began_at, run.id},
            {run.agent, {}, run.began_at, run.id}} {
  const std::lock_guard guard{of.mutex_};
  of.places_.insert(places_.begin(), places_.end());
  if (run.session)
    of.sessions_[session_] = run_;
  of.runs_[run_] = {std::move(run), by};
}

run_registry::registration::~registration() {
  const std::lock_guard guard{registry_.mutex_};
  registry_.runs_.erase(run_);
  for (const auto& x : places_)
    registry_.places_.erase(x);
  const auto found = registry_.sessions_.find(session_);
  // Another run may have taken the session over.
  if (found != registry_.sessions_.end() && found->second == run_)
    registry_.sessions_.erase(found);
}

void run_registry::registration::end(run_status status,
                                     const caf::error& reason) {
  const std::lock_guard guard{registry_.mutex_};
  auto& run = registry_.runs_.at(run_).run;
  run.status = status;
  run.ended_at = caf::make_timestamp();
  if (!reason)
    return;
  const auto why = to_status(reason);
  run.code = why.code();
  run.error = error_of_run(why.message());
}

run_actor run_registry::find(const run_id& run, const std::string& key) const {
  const std::lock_guard guard{mutex_};
  const auto found = runs_.find(run);
  if (found == runs_.end() || (!key.empty() && found->second.run.agent != key))
    return {};
  return caf::actor_cast<run_actor>(found->second.connection);
}

run_actor run_registry::find(const std::string& key,
                             const session_id& session) const {
  run_id run;
  {
    const std::lock_guard guard{mutex_};
    const auto found = sessions_.find(name_of(key, session));
    if (found == sessions_.end())
      return {};
    run = found->second;
  }
  return find(run, key);
}

std::vector<run_actor> run_registry::all() const {
  const std::lock_guard guard{mutex_};
  std::vector<run_actor> result;
  result.reserve(runs_.size());
  for (const auto& [id, x] : runs_)
    if (auto connection = caf::actor_cast<run_actor>(x.connection))
      result.push_back(std::move(connection));
  return result;
}

run_page run_registry::list(const list_runs_request& x) const {
  const std::size_t limit = std::clamp(x.limit, 1u, max_page);
  run_page result;
  const std::lock_guard guard{mutex_};
  place begin{x.agent, x.caller, timestamp::max(), run_id{}};
  if (x.after) {
    const auto found = runs_.find(x.after);
    if (found != runs_.end())
      begin = {x.agent, x.caller, found->second.run.began_at, x.after};
    if (!places_.contains(begin))
      throw status_error{errc::not_found,
                         fmt::format("there is no run {}", x.after.str())};
  }
  for (auto i = places_.lower_bound(begin); i != places_.begin();) {
    const auto& [key, caller, began_at, id] = *--i;
    if (key != x.agent || caller != x.caller)
      break;
    const auto& run = runs_.at(id).run;
    if ((x.session && x.session != run.session)
        || (x.status && x.status != run.status))
      continue;
    result.more = result.runs.size() == limit;
    if (result.more)
      break;
    result.runs.push_back(run);
  }
  return result;
}

std::string run_registry::name_of(const std::string& key,
                                  const session_id& session) {
  return key + '\0' + session.str();
}

} // namespace tertulia::detail
