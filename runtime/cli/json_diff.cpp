// SPDX-License-Identifier: BSD-3-Clause

#include "json_diff.hpp"

#include <algorithm>

namespace tertulia::tool {

namespace {

std::string below(const std::string& path, const std::string& name) {
  auto result = path + '/';
  for (const char c : name) // RFC 6901
    result += c == '~' ? "~0" : c == '/' ? "~1" : std::string(1, c);
  return result;
}

void collect(std::vector<change>& to, const std::string& path,
             const document& before, const document& after) {
  if (before == after)
    return;
  if (before.is_object() && after.is_object()) {
    for (const auto& [name, value] : before.items()) {
      if (const auto i = after.find(name); i != after.end())
        collect(to, below(path, name), value, *i);
      else
        to.push_back({change_kind::removed, below(path, name), value, {}});
    }
    for (const auto& [name, value] : after.items())
      if (!before.contains(name))
        to.push_back({change_kind::added, below(path, name), {}, value});
    return;
  }
  if (before.is_array() && after.is_array()) {
    const auto place
      = [&](std::size_t i) { return below(path, std::to_string(i)); };
    const auto both = std::min(before.size(), after.size());
    for (std::size_t i = 0; i < both; ++i)
      collect(to, place(i), before[i], after[i]);
    for (auto i = both; i < before.size(); ++i)
      to.push_back({change_kind::removed, place(i), before[i], {}});
    for (auto i = both; i < after.size(); ++i)
      to.push_back({change_kind::added, place(i), {}, after[i]});
    return;
  }
  to.push_back({change_kind::changed, path, before, after});
}

} // namespace

std::vector<change> diff(const document& before, const document& after,
                         const std::string& path) {
  std::vector<change> result;
  collect(result, path, before, after);
  return result;
}

} // namespace tertulia::tool
