// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/detail/key_patterns.hpp>
#include <tertulia/status_error.hpp>

#include <algorithm>

#include <fmt/format.h>

namespace tertulia::detail {

key_patterns::key_patterns(const std::vector<std::string>& patterns) {
  for (const auto& x : patterns) {
    if (x.empty() || (x.front() != '/' && x != "*"))
      throw status_error{errc::invalid_argument,
                         fmt::format("expose: {} is not the key of an action",
                                     x)};
    if (x.back() == '*')
      beginnings_.push_back(x.substr(0, x.size() - 1));
    else
      keys_.push_back(x);
  }
}

bool key_patterns::contains(std::string_view key) const {
  return std::find(keys_.begin(), keys_.end(), key) != keys_.end()
         || std::any_of(beginnings_.begin(), beginnings_.end(),
                        [&](const auto& x) { return key.starts_with(x); });
}

} // namespace tertulia::detail
