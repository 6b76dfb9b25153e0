// SPDX-License-Identifier: BSD-3-Clause

#include "schema_types.hpp"

#include <cmath>
#include <cstdint>

#include <fmt/format.h>

namespace tertulia::detail {

bool is_integer(const json& x) {
  if (x.is_number_float()) {
    const auto value = x.get<double>();
    return std::isfinite(value) && std::trunc(value) == value;
  }
  return x.is_number_integer();
}

bool is_of_type(const json& x, const std::string& type) {
  if (type == "string")
    return x.is_string();
  if (type == "number")
    return x.is_number();
  if (type == "integer")
    return is_integer(x);
  if (type == "boolean")
    return x.is_boolean();
  if (type == "object")
    return x.is_object();
  if (type == "array")
    return x.is_array();
  if (type == "null")
    return x.is_null();
  bad_schema("names an unknown type, {}", in_quotes(type));
}

std::string with_article(const std::string& type) {
  if (type == "null")
    return type;
  const auto vowel = type == "object" || type == "array" || type == "integer";
  return fmt::format("{} {}", vowel ? "an" : "a", type);
}

std::partial_ordering compare_numbers(const json& a, const json& b) {
  if (a.is_number_float() || b.is_number_float())
    return a.get<double>() <=> b.get<double>();
  const auto negative = [](const json& x) {
    return !x.is_number_unsigned() && x.get<std::int64_t>() < 0;
  };
  if (negative(a) != negative(b))
    return negative(a) ? std::partial_ordering::less
                       : std::partial_ordering::greater;
  if (negative(a))
    return a.get<std::int64_t>() <=> b.get<std::int64_t>();
  return a.get<std::uint64_t>() <=> b.get<std::uint64_t>();
}

} // namespace tertulia::detail
