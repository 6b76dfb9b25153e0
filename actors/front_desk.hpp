// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/detail/environment.hpp>

#include <memory>

namespace tertulia::detail {

/// Spawns the actor that opens connections. Told to exit, it refuses new ones,
/// tells the open ones to stop and ends when they have ended.
front_desk_actor spawn_front_desk(std::shared_ptr<environment> env);

} // namespace tertulia::detail
