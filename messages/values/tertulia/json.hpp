// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/json_value.hpp>

#include <string_view>

#include <nlohmann/json.hpp>

// JSON documents of any shape. For the conversion of values to text and back
// <tertulia/json_value.hpp> is enough, and faster to compile.

// Compiled once, in json_read.cpp: each source with documents would otherwise
// compile their members and the parser again. The parser is what nlohmann's
// literals call.
extern template class nlohmann::basic_json<>;
extern template nlohmann::json nlohmann::basic_json<>::parse<const char*>(
  const char*, const char*, nlohmann::json::parser_callback_t, bool, bool);

namespace tertulia {

/// Returns `x` as a document. It equals the parsed canonical form, so an
/// integral `double` becomes an integer.
/// @errors as `append_json_text`.
template <json_writable T>
[[nodiscard]] json to_json(const T& x) {
  return detail::parse_document(to_json_text(x));
}

/// Reads a document; it is what was parsed, and not a copy of it.
template <>
[[nodiscard]] inline json parse_json<json>(std::string_view text) {
  return detail::parse_document(text);
}

} // namespace tertulia
