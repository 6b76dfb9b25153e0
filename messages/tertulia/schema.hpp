// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/detail/schema_builder.hpp>
#include <tertulia/json.hpp>

namespace tertulia {

/// Returns the JSON Schema (draft 2020-12) of what `to_json_text` writes for a
/// `T`, with `$schema` at the root.
///
/// Every member that is no `std::optional` and never left out, as
/// `omitted_when_empty` has it, is required: a program that follows
/// the schema leaves nothing to defaults, though `from_json` would allow it.
/// Structs are described in place; a struct that contains itself stands once
/// under `$defs`. Integers narrower than 64 bits carry their limits, unsigned
/// ones a minimum of 0. A `json` is `{}`: anything.
///
/// @threads from any thread.
/// @design  README §5.11 "Registry and schemas".
template <json_value T>
[[nodiscard]] json schema_of() {
  return detail::schema_builder{}.document<T>();
}

} // namespace tertulia
