// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "support/flows.hpp"
#include "support/threaded.hpp"

namespace tertulia::test {

/// Fixture with flows whose runs are kept.
struct kept_run_flows : flows {
  /// Defines a flow that answers each input with that many numbers, in one
  /// turn, and returns how many inputs it took.
  auto define_counter() {
    return rt->define_bidi_flow(
      "counter", [](context, input<int> in, output<int> out) -> task<int> {
        const witness here;
        int total = 0;
        int inputs = 0;
        while (auto count = co_await in.next()) {
          ++inputs;
          for (int i = 0; i < *count; ++i)
            co_await out.send(total++);
          co_await out.end_turn();
        }
        co_return inputs;
      });
  }

  /// Defines a flow that answers one input with that many texts of 1 KiB, one
  /// each second, and returns.
  auto define_writer() {
    return rt->define_bidi_flow("writer",
                                [](context ctx, input<int> in,
                                   output<std::string> out) -> task<int> {
                                  const witness here;
                                  const auto count = co_await in.next();
                                  for (int i = 0; i < *count; ++i) {
                                    co_await out.send(text_of(i));
                                    co_await ctx.sleep(std::chrono::seconds{1});
                                  }
                                  co_return *count;
                                });
  }

  /// Defines a flow that answers each input with that many texts of 1 KiB.
  auto define_library() {
    return rt->define_bidi_flow(
      "library",
      [](context, input<int> in, output<std::string> out) -> task<int> {
        int total = 0;
        while (const auto count = co_await in.next()) {
          for (int i = 0; i < *count; ++i)
            co_await out.send(text_of(total++));
          co_await out.end_turn();
        }
        co_return total;
      });
  }

  static std::string text_of(int number) {
    auto result = std::to_string(number);
    result.resize(1024, '.');
    return result;
  }

  static std::vector<std::string> texts(int first, int last) {
    std::vector<std::string> result;
    for (int i = first; i < last; ++i)
      result.push_back(text_of(i));
    return result;
  }

  static cursor begin_of(const auto& client) {
    return {client.position().run, 0};
  }

  static std::vector<int> numbers_from(int first, int last) {
    std::vector<int> result;
    for (int i = first; i < last; ++i)
      result.push_back(i);
    return result;
  }
};

} // namespace tertulia::test
