// SPDX-License-Identifier: BSD-3-Clause
// expect: the factory takes a caf::actor_system& and returns the handle of an

#include <tertulia/supervise.hpp>

void start(caf::actor_system& system) {
  (void)tertulia::supervise(system, [] { return caf::actor{}; });
}
