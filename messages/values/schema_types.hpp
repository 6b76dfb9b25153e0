// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/json.hpp>

#include <compare>
#include <string>
#include <utility>

#include <fmt/format.h>

// Types and order of JSON values as JSON Schema defines them.

namespace tertulia::detail {

/// Refuses the schema; the words follow "the schema ".
template <class... Args>
[[noreturn]] void
bad_schema(fmt::format_string<Args...> words, Args&&... args) {
  throw status_error{
    errc::invalid_argument,
    fmt::format("the schema {}",
                fmt::format(words, std::forward<Args>(args)...))};
}

/// Returns whether `x` is a number without a fraction; `3.0` is one.
bool is_integer(const json& x);

/// @errors throws `invalid_argument` for a type that JSON Schema does not have.
bool is_of_type(const json& x, const std::string& type);

/// Returns the name of a type as error messages of the reader show it.
std::string with_article(const std::string& type);

/// Compares numbers. The comparison of the JSON library turns integers beyond
/// 2^63 into negative ones.
std::partial_ordering compare_numbers(const json& a, const json& b);

} // namespace tertulia::detail
