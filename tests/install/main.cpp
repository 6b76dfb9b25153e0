// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/runtime.hpp>

#include <iostream>
#include <string>

tertulia::task<int> echo(tertulia::context, tertulia::input<std::string> in,
                         tertulia::output<std::string> out) {
  int count = 0;
  for (; auto text = co_await in.next(); ++count)
    co_await out.send(*text);
  co_return count;
}

int main() {
  tertulia::config cfg;
  caf::actor_system system{cfg};
  tertulia::runtime rt{system};
  auto talk = rt.define_bidi_flow("echo", echo).stream_bidi();
  talk.send("installed");
  talk.close();
  for (const auto& chunk : talk.responses())
    std::cout << chunk << '\n';
  return talk.output() == 1 ? 0 : 1;
}
