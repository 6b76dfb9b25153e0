// SPDX-License-Identifier: BSD-3-Clause
// expect: the asked actor does not take these arguments: see the signatures of

#include <tertulia/ai/tool.hpp>

#include <caf/typed_event_based_actor.hpp>

using thermostat = caf::typed_actor<caf::replies_to<int>::with<int>>;

void ask(const thermostat& actor) {
  (void)tertulia::ai::asking<std::string>(actor, std::chrono::seconds{1});
}
