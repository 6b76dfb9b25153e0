// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/detail/conversation_action.hpp>
#include <tertulia/detail/registry.hpp>

#include <algorithm>
#include <mutex>

#include <fmt/format.h>

namespace tertulia::detail {

namespace {

/// Checks the name of an action. It becomes part of a key and of paths, so it
/// must be printable and unambiguous.
/// @errors throws `invalid_argument`.
void check_action_name(const std::string& name) {
  const auto plain = [](unsigned char c) { return c > ' ' && c < 0x7f; };
  if (name.empty() || name.size() > 128 || name.front() == '/'
      || name.back() == '/' || !std::all_of(name.begin(), name.end(), plain))
    throw status_error{errc::invalid_argument,
                       "an action's name is 1 to 128 printable characters "
                       "without blanks, and no / at its ends"};
}

} // namespace

void registry::add(const std::vector<std::shared_ptr<const action>>& xs) {
  for (const auto& x : xs)
    check_action_name(x->name());
  std::unique_lock guard{mutex_};
  for (const auto& x : xs)
    if (actions_.contains(x->key()))
      throw status_error{errc::already_exists,
                         fmt::format("the action {} is defined already",
                                     x->key())};
  for (const auto& x : xs)
    actions_.emplace(x->key(), x);
}

void registry::keep(const std::shared_ptr<const action>& x) {
  check_action_name(x->name());
  std::unique_lock guard{mutex_};
  std::erase_if(keyless_, [](const auto& y) { return y.second.expired(); });
  keyless_.emplace(x->key(), x);
}

std::shared_ptr<const action> registry::find(const std::string& key) const {
  std::shared_lock guard{mutex_};
  if (const auto found = actions_.find(key); found != actions_.end())
    return found->second;
  if (const auto found = keyless_.find(key); found != keyless_.end())
    return found->second.lock();
  return nullptr;
}

std::vector<descriptor> registry::list() const {
  std::shared_lock guard{mutex_};
  std::vector<descriptor> result;
  result.reserve(actions_.size());
  for (const auto& [key, x] : actions_)
    result.push_back(*x->info());
  return result;
}

std::vector<action_activity> registry::activities() const {
  std::shared_lock guard{mutex_};
  std::vector<action_activity> result;
  result.reserve(actions_.size());
  for (const auto& [key, x] : actions_)
    result.push_back(x->activity().read(key));
  return result;
}

std::vector<managed_store> registry::stores() const {
  std::shared_lock guard{mutex_};
  std::vector<managed_store> result;
  for (const auto& [key, x] : actions_) {
    const auto* conversation = x->conversation();
    if (conversation == nullptr || !conversation->policy.store)
      continue;
    const auto store
      = caf::actor_cast<managed_store>(conversation->policy.store);
    if (std::find(result.begin(), result.end(), store) == result.end())
      result.push_back(store);
  }
  return result;
}

std::string no_action(std::string_view key) {
  return fmt::format("there is no action {}", key);
}

} // namespace tertulia::detail
