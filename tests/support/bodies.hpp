// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/runtime.hpp>

#include <atomic>
#include <string>

// Bodies of flows that several tests share.

namespace tertulia::test {

/// Member of a body's frame that counts the frames that were not destroyed.
class witness {
public:
  witness() {
    ++alive_;
  }

  witness(const witness&) = delete;
  witness& operator=(const witness&) = delete;

  ~witness() {
    --alive_;
  }

  static int alive() noexcept {
    return alive_;
  }

private:
  static inline std::atomic<int> alive_ = 0;
};

/// Echoes each input and counts the inputs.
inline task<std::string> echo_inputs(context, input<std::string> in,
                                     output<std::string> out) {
  const witness here;
  int count = 0;
  while (const auto text = co_await in.next()) {
    ++count;
    co_await out.send("echo: " + *text);
  }
  co_return "processed " + std::to_string(count) + " messages";
}

/// Answers each input with that many numbers, one turn each, and returns their
/// count.
inline task<int> count_on(context, input<int> in, output<int> out) {
  const witness here;
  int total = 0;
  while (const auto count = co_await in.next()) {
    for (int i = 0; i < *count; ++i)
      co_await out.send(total++);
    co_await out.end_turn();
  }
  co_return total;
}

} // namespace tertulia::test
