// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <nlohmann/json.hpp>

namespace tertulia::bench {

/// Returns a description of the machine and the build.
nlohmann::ordered_json describe_machine();

} // namespace tertulia::bench
