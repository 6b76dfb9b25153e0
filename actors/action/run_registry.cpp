// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/detail/run_registry.hpp>

#include <caf/actor_cast.hpp>

#include <utility>

namespace tertulia::detail {

std::unique_ptr<run_registry::registration>
run_registry::add(run_info info, const caf::actor_addr& by) {
  {
    const std::lock_guard guard{mutex_};
    runs_[info.id] = {info.key, by};
    if (info.session)
      sessions_[name_of(info.key, info.session)] = info.id;
  }
  return std::make_unique<registration>(*this, std::move(info));
}

run_registry::registration::registration(run_registry& of, run_info info)
  : registry_(of), info_(std::move(info)) {}

run_registry::registration::~registration() {
  const std::lock_guard guard{registry_.mutex_};
  registry_.runs_.erase(info_.id);
  const auto found
    = registry_.sessions_.find(name_of(info_.key, info_.session));
  // Another run may have taken the session over.
  if (found != registry_.sessions_.end() && found->second == info_.id)
    registry_.sessions_.erase(found);
}

run_actor run_registry::find(const run_id& run, const std::string& key) const {
  const std::lock_guard guard{mutex_};
  const auto found = runs_.find(run);
  if (found == runs_.end() || (!key.empty() && found->second.key != key))
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

std::string run_registry::name_of(const std::string& key,
                                  const session_id& session) {
  return key + '\0' + session.str();
}

} // namespace tertulia::detail
