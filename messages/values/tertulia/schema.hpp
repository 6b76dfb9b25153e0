// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/detail/schema_builder.hpp>
#include <tertulia/json.hpp>

namespace tertulia {

/// Returns the JSON Schema (draft 2020-12) of the text that `to_json_text`
/// writes for a `T`, with `$schema` at the root.
///
/// A member is required unless it is a `std::optional` or can be left out by
/// `omitted_when_empty`: a program that follows the schema relies on no
/// defaults, though `from_json` would allow it. Structs are described in place;
/// a struct that contains itself is defined once under `$defs`. Integers
/// narrower than 64 bits have their limits, unsigned ones a minimum of 0. A
/// `json` is `{}`: any value.
///
/// @threads from any thread.
/// @design  docs/values.md#registry-and-schemas.
template <json_value T>
[[nodiscard]] json schema_of() {
  detail::schema_builder builder;
  builder.add<T>();
  return builder.finish();
}

namespace detail {

/// `{"type":name}`
json schema_of_type(const char* name);

/// Returns the schema of a `T` for a place in another schema: without
/// `$schema`, which is only for documents.
template <json_value T>
json nested_schema_of() {
  auto result = schema_of<T>();
  result.erase("$schema");
  return result;
}

} // namespace detail

} // namespace tertulia
