// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <nlohmann/json.hpp>

namespace tertulia::bench {

/// Says on what the numbers were measured.
nlohmann::ordered_json describe_machine();

} // namespace tertulia::bench
