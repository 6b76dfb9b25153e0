// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/json.hpp>
#include <tertulia/schema.hpp>

#include <string>

#include "support/has.hpp"
#include <gtest/gtest.h>

// Comparisons of values and their texts.

namespace tertulia::test::values_tests {

/// Reads a `T`, writes it, and expects the same text.
template <class T>
T expect_same_text(const std::string& text) {
  auto result = parse_json<T>(text);
  EXPECT_EQ(to_json_text(result), text);
  return result;
}

/// Writes `x`, expects this text, and reads it back.
template <class T>
void expect_text(const T& x, const std::string& text) {
  EXPECT_EQ(to_json_text(x), text);
  EXPECT_TRUE(parse_json<T>(text) == x) << text;
}

inline json parsed(const std::string& text) {
  return json::parse(text);
}

template <class T>
json schema_without_dialect() {
  auto result = schema_of<T>();
  EXPECT_EQ(result.erase("$schema"), 1u);
  return result;
}

} // namespace tertulia::test::values_tests
