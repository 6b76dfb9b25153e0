// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/store.hpp>

#include <cstdint>
#include <vector>

#include "output/progress.hpp"
#include "store/store_access.hpp"

namespace tertulia::tool {

/// Records that `prune_snapshots_request` would drop, computed in advance by
/// the rule that it promises: not heads, labelled records, the newest records,
/// records that are not old enough, or damaged records. Only this process can
/// change the store while it has the file, so the plan stays valid.
struct prune_plan {
  struct entry {
    session_ref session;
    std::vector<snapshot_record> dropped;
  };

  /// Sessions that would lose records.
  std::vector<entry> sessions;
  /// Number of all records, and of records that would be dropped.
  std::uint64_t records = 0;
  std::uint64_t dropped = 0;
  /// Damage of items that cannot be read, which are kept.
  std::vector<damage> damages;
};

[[nodiscard]] prune_plan plan_prune(store_access& store,
                                    const prune_snapshots_request& query,
                                    progress& bar);

} // namespace tertulia::tool
