// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/detail/environment.hpp>

#include "front_desk.hpp"

namespace tertulia::detail {

std::shared_ptr<environment> make_environment(caf::actor_system& system,
                                              const runtime_options& options) {
  auto result = std::make_shared<environment>(system, options);
  result->timer = spawn_timer(system);
  result->desk = spawn_front_desk(result);
  return result;
}

} // namespace tertulia::detail
