// SPDX-License-Identifier: BSD-3-Clause
// expect: the turn function of a session flow is a coroutine task<>(context,

#include <tertulia/ai/flow_session.hpp>

using namespace tertulia;

task<> chat(context ctx, ai::flow_session<int> sess) {
  const auto turn = [](context, ai::message) -> task<> { co_return; };
  co_await sess.run_turns(ctx, turn);
}
