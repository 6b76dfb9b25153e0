// SPDX-License-Identifier: BSD-3-Clause
// expect: this option is one of a tool: it belongs to ai::define_tool

#include <tertulia/ai/generate.hpp>

tertulia::task<> ask(tertulia::context ctx, const tertulia::ai::prompt& what) {
  const tertulia::ai::with_tool_timeout soon{std::chrono::seconds{1}};
  co_await tertulia::ai::generate(ctx, what, soon);
}
