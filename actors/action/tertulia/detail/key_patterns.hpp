// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tertulia::detail {

/// Set of keys of actions: keys such as `/bidi-flow/echo`, and beginnings of
/// keys with a `*` behind them.
///
/// @threads a value.
class key_patterns {
public:
  /// @errors throws `invalid_argument` for a pattern that begins with neither
  ///         `/` nor `*`.
  explicit key_patterns(const std::vector<std::string>& patterns);

  [[nodiscard]] bool contains(std::string_view key) const;

private:
  std::vector<std::string> keys_;
  std::vector<std::string> beginnings_;
};

} // namespace tertulia::detail
