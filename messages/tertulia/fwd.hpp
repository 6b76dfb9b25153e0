// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <cstdint>

// Names only: cheap to include everywhere.

namespace tertulia {

enum class errc : std::uint8_t;

class payload;
class status_error;

struct action_list;
struct chunk_batch;
struct chunk_credit;
struct finished;
struct input_credit;
struct open;
struct opened;
struct turn_end;
struct turn_input;

} // namespace tertulia
