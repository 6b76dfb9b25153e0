// SPDX-License-Identifier: BSD-3-Clause

#include "snapshot_tree.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

namespace tertulia::tool {

namespace {

struct tree_visit {
  std::size_t record;
  std::string first;
  std::string rest;
};

} // namespace

std::vector<tree_row> as_tree(const std::vector<snapshot_record>& records) {
  std::map<std::uint64_t, std::vector<std::size_t>> children;
  std::map<std::uint64_t, std::size_t> places;
  for (std::size_t i = 0; i < records.size(); ++i) {
    const auto parent = records[i].parent;
    children[places.contains(parent) ? parent : 0].push_back(i);
    places[records[i].sequence] = i;
  }
  // An explicit stack, because a timeline may be deeper than the stack of the
  // thread.
  std::vector<tree_visit> open;
  const auto push_children
    = [&](std::uint64_t parent, const std::string& lines) {
        const auto found = children.find(parent);
        if (found == children.end())
          return;
        auto& below = found->second;
        // The child on the path to the head goes straight on, or else the
        // newest child.
        const auto active
          = std::find_if(below.begin(), below.end(),
                         [&](std::size_t i) { return !records[i].orphaned; });
        const auto straight = active == below.end() ? below.back() : *active;
        open.push_back({straight, lines, lines});
        for (auto i = below.rbegin(); i != below.rend(); ++i)
          if (*i != straight)
            open.push_back({*i, lines + "├─", lines + "│ "});
      };
  std::vector<tree_row> result;
  push_children(0, {});
  while (!open.empty()) {
    auto at = std::move(open.back());
    open.pop_back();
    result.push_back({std::move(at.first), at.record});
    push_children(records[at.record].sequence, at.rest);
  }
  return result;
}

} // namespace tertulia::tool
