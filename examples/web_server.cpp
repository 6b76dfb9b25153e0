// SPDX-License-Identifier: BSD-3-Clause

// A flow behind an HTTP server, for curl. Usage: web_server PORT

// --(quick-start-begin)--
#include <tertulia/config.hpp>
#include <tertulia/http_server.hpp>
#include <tertulia/runtime.hpp>

#include <cstdint>
#include <iostream>
#include <string>

using namespace tertulia;

task<std::string> greet(context, input<std::string> names, output<nothing>) {
  co_return "Hello, " + (co_await names.next()).value_or("you") + "!";
}

int main(int, char** argv) {
  config cfg;
  caf::actor_system system{cfg};
  runtime rt{system};
  rt.define_bidi_flow("greet", greet);
  const http_server web{rt, {.port = std::uint16_t(std::stoi(argv[1]))}};
  std::cin.get(); // until Enter
}
// --(quick-start-end)--
