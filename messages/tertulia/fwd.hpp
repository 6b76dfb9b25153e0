// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <cstdint>

// Names only: cheap to include everywhere.

namespace tertulia {

enum class errc : std::uint8_t;

class payload;
class status_error;

} // namespace tertulia
