// SPDX-License-Identifier: BSD-3-Clause

// A flow behind an HTTP server, for curl. Usage: web_server [PORT]

// --(quick-start-begin)--
#include <tertulia/config.hpp>
#include <tertulia/http_server.hpp>
#include <tertulia/runtime.hpp>

#include <cctype>
#include <cstdint>
#include <iostream>
#include <string>
#include <utility>

tertulia::task<std::string> shout(tertulia::context,
                                  tertulia::input<std::string> in,
                                  tertulia::output<std::string> out) {
  std::string last;
  while (auto text = co_await in.next()) {
    for (auto& c : *text)
      c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    last = *text;
    co_await out.send(std::move(*text));
    co_await out.end_turn();
  }
  co_return last;
}

int main(int argc, char** argv) {
  tertulia::config cfg;
  caf::actor_system system{cfg};
  tertulia::runtime rt{system};
  rt.define_bidi_flow("shout", shout);
  const auto port = argc > 1 ? std::stoi(argv[1]) : 0;
  const tertulia::http_server web{rt,
                                  {.port = static_cast<std::uint16_t>(port)}};
  std::cout << web.url() << std::endl;
  std::cin.get(); // until Enter
}
// --(quick-start-end)--
