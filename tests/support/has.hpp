// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace tertulia::test {

/// Returns whether a text contains all of these parts.
template <class... Parts>
::testing::AssertionResult has(const std::string& text, const Parts&... parts) {
  for (const std::string_view part : {std::string_view{parts}...})
    if (text.find(part) == text.npos)
      return ::testing::AssertionFailure() << "no \"" << part << "\" in:\n"
                                           << text;
  return ::testing::AssertionSuccess() << "in:\n" << text;
}

} // namespace tertulia::test
