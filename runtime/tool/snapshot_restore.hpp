// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/snapshot.hpp>
#include <tertulia/store.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tool.hpp"

namespace tertulia::tool {

/// What has changed when a snapshot was made the head of its session.
struct restored {
  snapshot_record now;
  /// Sequence number of the head before.
  std::uint64_t before = 0;
  /// Sequence numbers of what is no longer on the way to the head, and of what
  /// is again.
  std::vector<std::uint64_t> orphaned;
  std::vector<std::uint64_t> recovered;
  /// Those about which nobody knows.
  std::vector<damage> damages;
};

/// Makes a snapshot the head of its session.
/// @errors throws what the store says.
[[nodiscard]] restored restore_to(tool& t, const snapshot_record& x);

void print_restored_json(tool& t, const restored& x);

/// @param way_back returns the command that restores the snapshot of that name.
void print_restored_text(
  tool& t, const restored& x,
  const std::function<std::string(const std::string&)>& way_back);

} // namespace tertulia::tool
