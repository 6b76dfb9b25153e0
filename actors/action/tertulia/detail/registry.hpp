// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/descriptor.hpp>
#include <tertulia/detail/action.hpp>

#include <map>
#include <memory>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <vector>

namespace tertulia::detail {

/// The actions of one runtime by key.
///
/// @threads all members are thread-safe.
class registry {
public:
  /// Adds actions under their keys: all of them, or none if one fails.
  /// @errors throws `already_exists`; `invalid_argument` for a bad name.
  void add(const std::vector<std::shared_ptr<const action>>& xs);

  /// Makes an action without a key known for as long as it is held elsewhere.
  /// @errors throws `invalid_argument` for a bad name.
  void keep(const std::shared_ptr<const action>& x);

  /// Returns the action with that key, null if it does not exist.
  std::shared_ptr<const action> find(const std::string& key) const;

  /// Returns the descriptors of all actions that have a key, sorted by key.
  std::vector<descriptor> list() const;

  /// Returns the numbers of all actions that have a key, sorted by key.
  [[nodiscard]] std::vector<action_activity> activities() const;

  /// Returns the stores of these actions, each once.
  [[nodiscard]] std::vector<managed_store> stores() const;

private:
  mutable std::shared_mutex mutex_;
  std::map<std::string, std::shared_ptr<const action>> actions_;
  std::map<std::string, std::weak_ptr<const action>> keyless_;
};

/// Returns the message of the error for a key without an action.
std::string no_action(std::string_view key);

} // namespace tertulia::detail
