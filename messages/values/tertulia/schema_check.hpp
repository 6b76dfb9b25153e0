// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/json.hpp>

#include <cstddef>

namespace tertulia {

/// Maximum number of comparisons of a value with a schema in one check, or 16
/// for each JSON value in the document if that is more. A schema whose
/// alternatives refer to each other could otherwise take unacceptably long.
inline constexpr std::size_t max_schema_steps = 200'000;

/// Checks that `x` conforms to the schema: one from `schema_of`, or another one
/// that restricts values only by the keywords below.
///
/// Supported are, of JSON Schema draft 2020-12: `type`, `enum`, `const`,
/// `properties`, `required`, `additionalProperties`, `propertyNames`,
/// `minProperties`, `maxProperties`, `items`, `prefixItems`, `minItems`,
/// `maxItems`, `uniqueItems`, `minimum`, `maximum`, `exclusiveMinimum`,
/// `exclusiveMaximum`, `minLength`, `maxLength`, `anyOf`, `oneOf`, `allOf`,
/// `not`, `true`, `false`, and `$ref` to a place in the same document. Keywords
/// that only describe, such as `description` and `format`, are ignored.
///
/// A number without a fraction is an integer, `3.0` too. A length is counted in
/// Unicode characters, not in bytes.
///
/// @param x      the value.
/// @param schema the schema, which is also the document that `$ref` refers to.
/// @errors  `invalid_argument` as `from_json`: the message names the path,
///          `$.items[3].unitPrice: expected a number, found a string`, the
///          details are `{"expected":…,"path":…}`; of several alternatives the
///          closest one is named. Also for a value that is nested deeper than
///          `max_json_depth`, and for a schema that is invalid or refers to
///          itself without end. `unimplemented` for a keyword that restricts
///          values and is not listed above. `resource_exhausted` beyond
///          `max_schema_steps`.
/// @threads from any thread.
/// @design  docs/values.md#registry-and-schemas.
void check_schema(const json& x, const json& schema);

} // namespace tertulia
