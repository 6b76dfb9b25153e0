// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/snapshot.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace tertulia::tool {

/// One record of a tree, with the lines drawn before it.
struct tree_row {
  std::string lines;
  /// Index into the given records.
  std::size_t record = 0;
};

/// Lays out the records of a session as a tree, each below its parent. The path
/// to the head is on the left. Branches are indented between a record and its
/// successor on the path:
///
/// ```
/// 1
/// ├─2
/// │ 3
/// 4
/// ```
///
/// A record whose parent is missing starts a path of its own.
///
/// @param records oldest first.
[[nodiscard]] std::vector<tree_row>
as_tree(const std::vector<snapshot_record>& records);

} // namespace tertulia::tool
