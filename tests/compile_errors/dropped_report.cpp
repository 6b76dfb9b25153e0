// SPDX-License-Identifier: BSD-3-Clause
// expect: nodiscard

#include <tertulia/ai/tool_context.hpp>

tertulia::task<int> count(tertulia::ai::tool_context ctx) {
  ctx.report(1);
  co_return 1;
}
