// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/json.hpp>

#include <cstddef>

namespace tertulia {

/// How many comparisons of a value with a schema one check may cost, or sixteen
/// for each value in the document if those are more: a schema whose
/// alternatives refer to each other can ask for more than anybody waits for.
inline constexpr std::size_t max_schema_steps = 200'000;

/// Does nothing if `x` is what the schema describes: for schemas that come
/// from `schema_of`, and for those of others that say no more than it does.
///
/// Understood are, of JSON Schema draft 2020-12: `type`, `enum`, `const`,
/// `properties`, `required`, `additionalProperties`, `propertyNames`,
/// `minProperties`, `maxProperties`, `items`, `prefixItems`, `minItems`,
/// `maxItems`, `uniqueItems`, `minimum`, `maximum`, `exclusiveMinimum`,
/// `exclusiveMaximum`, `minLength`, `maxLength`, `anyOf`, `oneOf`, `allOf`,
/// `not`, `true`, `false`, and `$ref` to a place in the same document. What
/// only describes, such as `description` and `format`, is ignored.
///
/// A number is an integer if it has no fraction, `3.0` too. A length is counted
/// in characters of Unicode, not in bytes.
///
/// @param x      the value.
/// @param schema the schema, which is the document that `$ref` refers to.
/// @errors  `invalid_argument` as `from_json`: the message names the path,
///          `$.items[3].unitPrice: expected a number, found a string`, the
///          details are `{"expected":…,"path":…}`; of alternatives the one that
///          came closest is named. Also for a value that is nested deeper than
///          `max_json_depth`, and for a schema that makes no sense or refers to
///          itself without end. `unimplemented` for a keyword that restricts
///          values and is not listed above. `resource_exhausted` beyond
///          `max_schema_steps`.
/// @threads from any thread.
/// @design  README §5.11 "Registry and schemas".
void check_schema(const json& x, const json& schema);

} // namespace tertulia
