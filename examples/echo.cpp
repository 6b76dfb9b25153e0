// SPDX-License-Identifier: BSD-3-Clause

// First example of Genkit's design: a flow that echoes its inputs and counts
// them.

// --(all-begin)--
#include <tertulia/runtime.hpp>

#include <iostream>
#include <string>

int main() {
  // --(runtime-begin)--
  tertulia::config cfg;
  caf::actor_system system{cfg};
  tertulia::runtime rt{system};
  // --(runtime-end)--

  // --(echo-begin)--
  auto echo = rt.define_bidi_flow(
    "echo",
    [](tertulia::context, tertulia::input<std::string> in,
       tertulia::output<std::string> out) -> tertulia::task<std::string> {
      int count = 0;
      while (auto text = co_await in.next()) {
        ++count;
        co_await out.send("echo: " + *text);
      }
      co_return "processed " + std::to_string(count) + " messages";
    });

  auto talk = echo.stream_bidi();
  talk.send("hello");
  talk.send("world");
  talk.close();
  for (const auto& chunk : talk.responses())
    std::cout << chunk << '\n';
  std::cout << talk.output() << '\n';
  // --(echo-end)--
}
// --(all-end)--
