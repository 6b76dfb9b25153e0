// SPDX-License-Identifier: BSD-3-Clause
// expect: the asked actor does not take these arguments: see the signatures of

#include <tertulia/context.hpp>

using thermostat = caf::typed_actor<caf::replies_to<int>::with<int>>;

tertulia::task<> ask(tertulia::context ctx, thermostat actor) {
  co_await ctx.ask(actor, std::chrono::seconds{1}, std::string{"warmer"});
}
