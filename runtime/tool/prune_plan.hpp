// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/store.hpp>

#include <cstdint>
#include <vector>

#include "progress.hpp"
#include "store_file.hpp"

namespace tertulia::tool {

/// What `prune_snapshots` would drop, read beforehand by the rule that it
/// promises: neither heads nor what has a label, nothing of the newest, nothing
/// that is not old enough, nothing that is damaged. Nobody else changes the
/// store while this process has it, so it holds.
struct prune_plan {
  struct entry {
    session_ref of;
    std::vector<snapshot_record> dropped;
  };

  /// Sessions that would lose something.
  std::vector<entry> sessions;
  /// How many records there are and would be dropped.
  std::uint64_t records = 0;
  std::uint64_t dropped = 0;
  /// What cannot be read, and so stays.
  std::vector<damage> damages;
};

[[nodiscard]] prune_plan plan_prune(store_file& store,
                                    const prune_snapshots& how, progress& bar);

} // namespace tertulia::tool
