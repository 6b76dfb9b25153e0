// SPDX-License-Identifier: BSD-3-Clause
// expect: this option is one of a client: it belongs to stream_bidi

#include <tertulia/define_agent.hpp>
#include <tertulia/runtime.hpp>

tertulia::task<> take(tertulia::context, tertulia::agent_session<int>,
                      tertulia::input<std::string>,
                      tertulia::agent_responder<std::string>);

void define(tertulia::runtime& rt) {
  define_agent(rt, "orders", take, tertulia::with_chunk_window(8));
}
