// SPDX-License-Identifier: BSD-3-Clause

// A flow behind an HTTP server, for curl. Usage: web_server [PORT]

// --(quick-start-begin)--
#include <tertulia/config.hpp>
#include <tertulia/http_server.hpp>
#include <tertulia/runtime.hpp>

#include <iostream>
#include <string>

tertulia::task<std::string> greet(tertulia::context,
                                  tertulia::input<std::string> names,
                                  tertulia::output<std::string> out) {
  std::string last;
  while (const auto name = co_await names.next()) {
    last = "Hello, " + *name + "!";
    co_await out.send(last);
    co_await out.end_turn();
  }
  co_return last;
}

int main(int argc, char** argv) {
  tertulia::config cfg;
  caf::actor_system system{cfg};
  tertulia::runtime rt{system};
  rt.define_bidi_flow("greet", greet);
  tertulia::http_server_options options;
  options.port = argc > 1 ? std::stoi(argv[1]) : 0;
  const tertulia::http_server web{rt, options};
  std::cout << web.url() << std::endl;
  std::cin.get(); // until Enter
}
// --(quick-start-end)--
