// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/snapshot.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace tertulia::tool {

/// One record of a tree, with what is drawn before it.
struct tree_row {
  std::string lines;
  /// Of the records that were given.
  std::size_t record = 0;
};

/// Lays the records of a session out as a tree, each below the one that it went
/// on from. The way to the head stands on the left, and what branches off from
/// it is indented between a record and its successor on the way:
///
/// ```
/// 1
/// ├─2
/// │ 3
/// 4
/// ```
///
/// A record whose parent is gone begins a way of its own.
///
/// @param records oldest first.
[[nodiscard]] std::vector<tree_row>
as_tree(const std::vector<snapshot_record>& records);

} // namespace tertulia::tool
