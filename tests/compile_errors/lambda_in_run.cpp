// SPDX-License-Identifier: BSD-3-Clause
// only: g++ before 13
// expect: destroys such a temporary of a co_await twice: give the function

#include <tertulia/context.hpp>

tertulia::task<std::size_t> measure(tertulia::context ctx, std::string text) {
  co_return co_await ctx.run_step("measure", [text] { return text.size(); });
}
