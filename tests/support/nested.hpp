// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include "support/flows.hpp"

namespace tertulia::test {

/// Fixture with flows to call from other flows, and with counters of their
/// progress.
struct nested : flows {
  /// Defines a flow that answers each input with that many numbers, one turn
  /// each, and finally returns their total count.
  auto define_counter() {
    return define([this](context, input<int> in, output<int> out) //
                  -> task<int> {
      const departure here{inner_left};
      int total = 0;
      while (auto count = co_await in.next()) {
        for (int i = 0; i < *count; ++i) {
          co_await out.send(total++);
          produced = total;
        }
        co_await out.end_turn();
      }
      co_return total;
    });
  }

  /// Defines a flow that sends two chunks and fails.
  auto define_failing() {
    return define([this](context, input<int>, output<int> out) -> task<int> {
      const departure here{inner_left};
      co_await out.send(1);
      co_await out.send(2);
      throw status_error{errc::out_of_range, "too far", R"({"by":3})"};
    });
  }

  /// Defines a flow that waits for inputs and never sends a chunk.
  auto define_silent() {
    return define([this](context, input<int> in, output<int>) -> task<int> {
      const departure here{inner_left};
      while (co_await in.next())
        ++inputs_taken;
      co_return 7;
    });
  }

  int inner_left = 0;
  int produced = 0;
  int inputs_taken = 0;
};

} // namespace tertulia::test
