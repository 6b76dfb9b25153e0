// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include "flows.hpp"

namespace tertulia::test {

/// Flows to call from other flows, and what became of them.
struct nested : flows {
  /// Answers each input with so many numbers, one turn each, and says in the
  /// end how many there were.
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

  /// Sends two chunks and fails.
  auto define_failing() {
    return define([this](context, input<int>, output<int> out) -> task<int> {
      const departure here{inner_left};
      co_await out.send(1);
      co_await out.send(2);
      throw status_error{errc::out_of_range, "too far", R"({"by":3})"};
    });
  }

  /// Waits for inputs and never says anything.
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
