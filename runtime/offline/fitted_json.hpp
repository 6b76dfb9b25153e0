// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/json.hpp>

#include <string_view>

namespace tertulia::offline {

/// Returns a value that fits a JSON Schema, made of what is said in a text.
///
/// A number is taken from the text where one is wanted, a list is split at
/// commas and `and`, and members of an object are looked for by their names:
/// `to Porto, days 3`. Text that is JSON stands for itself. What cannot be
/// found is empty or zero, and optional members are left out.
json fitted_json(const json& schema, std::string_view text);

} // namespace tertulia::offline
