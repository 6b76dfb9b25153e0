// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/json.hpp>

#include <string>

namespace tertulia::web {

/// Returns a request to a model as models here read it: Genkit's has the
/// instructions among the messages, and settings of any name.
/// @errors throws `invalid_argument` if `x` is not an object.
[[nodiscard]] json model_call(const json& x);

/// Returns what Genkit's tools show of a model.
[[nodiscard]] json model_metadata(const std::string& name);

} // namespace tertulia::web
