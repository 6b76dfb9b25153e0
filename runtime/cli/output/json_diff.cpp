// SPDX-License-Identifier: BSD-3-Clause

#include "json_diff.hpp"

#include <cstddef>
#include <optional>

namespace tertulia::tool {

std::vector<change> diff(const document& before, const document& after,
                         const std::string& path) {
  using pointer = document::json_pointer;
  std::vector<change> result;
  std::optional<pointer> list; // whose end changes, and its first change
  std::size_t first = 0;
  for (const auto& x : document::diff(before, after)) {
    const auto op = x.at("op").get<std::string>();
    pointer place{x.at("path").get<std::string>()};
    if (op == "replace") {
      list.reset();
      result.push_back({change_kind::changed, path + place.to_string(),
                        before.at(place), x.at("value")});
      continue;
    }
    const auto parent = place.parent_pointer();
    const auto is_element = before.at(parent).is_array();
    if (!is_element || list != parent)
      first = result.size();
    list = is_element ? std::optional{parent} : std::nullopt;
    if (op == "add") {
      // The patch appends to a list without a position.
      if (is_element)
        place = parent / (before.at(parent).size() + result.size() - first);
      result.push_back(
        {change_kind::added, path + place.to_string(), {}, x.at("value")});
    } else {
      // The patch removes the end of a list from the last element on.
      const auto i = is_element
                       ? result.begin() + static_cast<std::ptrdiff_t>(first)
                       : result.end();
      result.insert(
        i,
        {change_kind::removed, path + place.to_string(), before.at(place), {}});
    }
  }
  return result;
}

} // namespace tertulia::tool
