// SPDX-License-Identifier: BSD-3-Clause
// expect: the function of a tool is a coroutine task<Out>(ai::tool_context, In)

#include <tertulia/ai/tool.hpp>

void define(tertulia::runtime& rt) {
  tertulia::ai::define_tool(rt, "twice", "Doubles a number.",
                            [](tertulia::ai::tool_context, int x) {
                              return x * 2; //
                            });
}
