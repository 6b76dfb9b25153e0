// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/snapshot.hpp>
#include <tertulia/store.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "command_environment.hpp"

namespace tertulia::tool {

/// Effects of making a snapshot the head of its session.
struct restored {
  snapshot_record now;
  /// Sequence number of the previous head.
  std::uint64_t before = 0;
  /// Sequence numbers of records that are no longer on the path to the head,
  /// and of records that are on it again.
  std::vector<std::uint64_t> orphaned;
  std::vector<std::uint64_t> recovered;
  /// Damage of records in neither list.
  std::vector<damage> damages;
};

/// Makes a snapshot the head of its session.
/// @errors throws errors of the store.
[[nodiscard]] restored restore_to(tool& t, const snapshot_record& x);

void print_restored_json(tool& t, const restored& x);

/// @param way_back returns the command that restores the snapshot of that name.
void print_restored_text(
  tool& t, const restored& x,
  const std::function<std::string(const std::string&)>& way_back);

} // namespace tertulia::tool
