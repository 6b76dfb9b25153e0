// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <cstddef>
#include <memory>
#include <numeric>
#include <vector>

#include "support/threaded.hpp"

namespace tertulia::test {

/// Fixture for tests of a blocking client.
struct blocking_connection : threaded {
  /// Defines a flow that adds up its inputs once the gate is open.
  auto define_gated_sum(std::shared_ptr<gate> open) {
    return rt->define_bidi_flow(
      "gated_sum",
      [open](context ctx, input<int> in, output<int>) -> task<int> {
        const witness here;
        co_await ctx.run_blocking([&open] { open->wait(); });
        int sum = 0;
        while (auto x = co_await in.next())
          sum += *x;
        co_return sum;
      });
  }

  /// Defines a flow that sends two chunks and then fails.
  auto define_failing() {
    return rt->define_bidi_flow(
      "failing", [](context, input<int>, output<int> out) -> task<int> {
        const witness here;
        co_await out.send(1);
        co_await out.send(2);
        throw status_error{errc::out_of_range, "too far", R"({"by":3})"};
      });
  }

  /// Returns the numbers from `first` up to, but excluding, `last`.
  static std::vector<int> numbers(int first, int last) {
    std::vector<int> result(static_cast<std::size_t>(last - first));
    std::iota(result.begin(), result.end(), first);
    return result;
  }
};

} // namespace tertulia::test
