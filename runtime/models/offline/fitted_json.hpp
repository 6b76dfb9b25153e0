// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/json.hpp>

#include <string_view>

namespace tertulia::offline {

/// Returns a value that fits a JSON Schema, built from the words of a text.
///
/// A number is taken from the text if the schema requires one, a list is split
/// at commas and `and`, and members of an object are found by their names:
/// `to Porto, days 3`. Text that is JSON is returned as it is. Values that
/// cannot be found are empty or zero, and optional members are omitted.
json fitted_json(const json& schema, std::string_view text);

} // namespace tertulia::offline
