// SPDX-License-Identifier: BSD-3-Clause
// expect: the body of an agent is a coroutine task<agent_result<Out>>(context,

#include <tertulia/runtime.hpp>

tertulia::task<> take(tertulia::context, tertulia::session<int>,
                      tertulia::input<std::string>,
                      tertulia::output<std::string>);

void define(tertulia::runtime& rt) {
  rt.define_agent("orders", take);
}
