// SPDX-License-Identifier: BSD-3-Clause
// expect: the body of an agent is a coroutine task<agent_result<Out>>(context,

#include <tertulia/define_agent.hpp>
#include <tertulia/runtime.hpp>

tertulia::task<> take(tertulia::context, tertulia::agent_session<int>,
                      tertulia::input<std::string>,
                      tertulia::output<std::string>);

void define(tertulia::runtime& rt) {
  define_agent(rt, "orders", take);
}
