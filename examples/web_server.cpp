// SPDX-License-Identifier: BSD-3-Clause

// A flow behind an HTTP server, and a request for one answer.

#include <tertulia/config.hpp>
#include <tertulia/http_server.hpp>
#include <tertulia/runtime.hpp>

#include <cctype>
#include <iostream>
#include <string>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>

namespace {

namespace asio = boost::asio;

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

/// Sends a request and returns the body of the answer.
std::string post(std::uint16_t port, const std::string& target,
                 const std::string& body) {
  asio::io_context io;
  asio::ip::tcp::socket socket{io};
  socket.connect({asio::ip::address_v4::loopback(), port});
  asio::write(socket,
              asio::buffer("POST " + target
                           + " HTTP/1.1\r\nHost: localhost\r\n"
                             "Connection: close\r\nContent-Length: "
                           + std::to_string(body.size()) + "\r\n\r\n" + body));
  std::string answer;
  boost::system::error_code end;
  asio::read(socket, asio::dynamic_buffer(answer), end);
  return answer.substr(answer.find("\r\n\r\n") + 4);
}

} // namespace

int main() {
  tertulia::config cfg;
  caf::actor_system system{cfg};
  tertulia::runtime rt{system};
  rt.define_bidi_flow("shout", shout);
  // --(serve-begin)--
  tertulia::http_server web{rt};
  // --(serve-end)--
  const auto answer
    = post(web.port(), "/genkit/bidi-flow/shout", R"({"data":"hello"})");
  std::cout << answer << '\n';
}
