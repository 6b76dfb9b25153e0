// SPDX-License-Identifier: BSD-3-Clause

// Load for a server, and a bare echo to compare it with:
//
//   http_load echo                             serves; prints its port
//   http_load call PORT PATH BODY N SECONDS    N connections, one call after
//                                              the other; prints JSON
//   http_load stream PORT PATH BODY N          N event streams at once, each to
//                                              its end; prints JSON
//   http_load hold PORT PATH N                 N WebSockets that are opened and
//                                              idle; prints a line when all
//                                              are, and ends with its input

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/websocket/stream.hpp>

namespace {

namespace net = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using net::ip::tcp;
using clock_type = std::chrono::steady_clock;

constexpr auto wait = net::use_awaitable;

tcp::endpoint place_of(const std::string& port) {
  return {net::ip::address_v4::loopback(),
          static_cast<std::uint16_t>(std::stoi(port))};
}

// -- echo ---------------------------------------------------------------------

net::awaitable<void> answer(tcp::socket socket) {
  beast::tcp_stream stream{std::move(socket)};
  beast::flat_buffer buffer;
  try {
    for (;;) {
      http::request<http::string_body> request;
      co_await http::async_read(stream, buffer, request, wait);
      http::response<http::string_body> response{http::status::ok, 11};
      response.set(http::field::content_type, "application/json");
      response.body() = "{\"result\":" + request.body() + '}';
      response.prepare_payload();
      co_await http::async_write(stream, response, wait);
    }
  } catch (const boost::system::system_error&) {
    // The client is gone.
  }
}

net::awaitable<void> accept_all(tcp::acceptor acceptor) {
  for (;;) {
    auto socket = co_await acceptor.async_accept(wait);
    net::co_spawn(acceptor.get_executor(), answer(std::move(socket)),
                  net::detached);
  }
}

void serve_echo() {
  net::io_context io{1};
  tcp::acceptor acceptor{io, {net::ip::address_v4::loopback(), 0}};
  std::cout << acceptor.local_endpoint().port() << std::endl;
  net::co_spawn(io, accept_all(std::move(acceptor)), net::detached);
  io.run();
}

// -- calls --------------------------------------------------------------------

struct load {
  tcp::endpoint place;
  std::string path;
  std::string body;
  clock_type::time_point end;
  std::vector<double> times; ///< of calls, in microseconds
  std::size_t failures = 0;
};

/// Answer of a server that tells its length. The load shares the machine with
/// the servers, so no more of it is read than is needed.
class answer_reader {
public:
  explicit answer_reader(tcp::socket& from) : from_(from) {}

  /// Reads an answer.
  /// @returns whether its status is 200.
  net::awaitable<bool> read() {
    constexpr std::string_view end_of_head = "\r\n\r\n";
    auto head = text_.find(end_of_head);
    while (head == std::string::npos) {
      co_await read_some();
      head = text_.find(end_of_head);
    }
    head += end_of_head.size();
    const auto size = head + body_size(std::string_view{text_}.substr(0, head));
    while (text_.size() < size)
      co_await read_some();
    const auto is_good = text_.compare(8, 5, " 200 ") == 0;
    text_.erase(0, size);
    co_return is_good;
  }

private:
  static std::size_t body_size(std::string_view head) {
    for (const std::string_view name :
         {"\r\nContent-Length: ", "\r\ncontent-length: "})
      if (const auto found = head.find(name); found != std::string_view::npos)
        return std::strtoul(head.data() + found + name.size(), nullptr, 10);
    throw std::runtime_error{"an answer does not tell its length"};
  }

  net::awaitable<void> read_some() {
    const auto count
      = co_await from_.async_read_some(net::buffer(buffer_), wait);
    text_.append(buffer_.data(), count);
  }

  tcp::socket& from_;
  std::array<char, 16 * 1'024> buffer_;
  std::string text_;
};

net::awaitable<void> call_again_and_again(load& of) {
  tcp::socket socket{co_await net::this_coro::executor};
  co_await socket.async_connect(of.place, wait);
  socket.set_option(tcp::no_delay{true});
  const auto request
    = "POST " + of.path
      + " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        "Content-Length: "
      + std::to_string(of.body.size()) + "\r\n\r\n" + of.body;
  answer_reader answers{socket};
  while (clock_type::now() < of.end) {
    const auto begin = clock_type::now();
    co_await net::async_write(socket, net::buffer(request), wait);
    if (!co_await answers.read())
      ++of.failures;
    of.times.push_back(
      std::chrono::duration<double, std::micro>(clock_type::now() - begin)
        .count());
  }
}

void print(load& of, double seconds) {
  std::sort(of.times.begin(), of.times.end());
  const auto at = [&](double part) {
    return of.times.empty() ? 0.0
                            : of.times[static_cast<std::size_t>(
                              part * static_cast<double>(of.times.size() - 1))];
  };
  std::cout << "{\"calls\":" << of.times.size() << ",\"perSecond\":"
            << static_cast<double>(of.times.size()) / seconds
            << ",\"p50\":" << at(0.5) << ",\"p99\":" << at(0.99)
            << ",\"failures\":" << of.failures << "}" << std::endl;
}

void call_server(const std::string& port, std::string path, std::string body,
                 int connections, double seconds) {
  net::io_context io{1};
  load all{place_of(port), std::move(path), std::move(body), {}, {}, 0};
  all.end = clock_type::now()
            + std::chrono::duration_cast<clock_type::duration>(
              std::chrono::duration<double>{seconds});
  for (int i = 0; i < connections; ++i)
    net::co_spawn(io, call_again_and_again(all), [](std::exception_ptr x) {
      if (x)
        std::rethrow_exception(x);
    });
  io.run();
  print(all, seconds);
}

// -- event streams ------------------------------------------------------------

struct streams {
  tcp::endpoint place;
  http::request<http::string_body> request;
  std::size_t bytes = 0;
  std::size_t failures = 0;
  std::size_t errors = 0;
};

net::awaitable<void> read_stream(streams& of) {
  beast::tcp_stream stream{co_await net::this_coro::executor};
  co_await stream.async_connect(of.place, wait);
  co_await http::async_write(stream, of.request, wait);
  beast::flat_buffer buffer;
  http::response_parser<http::string_body> parser;
  parser.body_limit(boost::none);
  co_await http::async_read(stream, buffer, parser, wait);
  const auto& text = parser.get().body();
  of.bytes += text.size();
  if (text.find("event: error") != std::string::npos)
    ++of.errors;
  else if (text.find("event: output") == std::string::npos)
    ++of.failures; // it was cut off
}

void read_streams(const std::string& port, const std::string& path,
                  std::string body, int count) {
  net::io_context io{1};
  streams all{place_of(port), {http::verb::post, path, 11}};
  all.request.set(http::field::host, "localhost");
  all.request.set(http::field::accept, "text/event-stream");
  all.request.body() = std::move(body);
  all.request.prepare_payload();
  const auto begin = clock_type::now();
  for (int i = 0; i < count; ++i)
    net::co_spawn(io, read_stream(all), [&all](const std::exception_ptr& x) {
      if (x)
        ++all.failures;
    });
  io.run();
  const std::chrono::duration<double> took = clock_type::now() - begin;
  std::cout << "{\"streams\":" << count << ",\"bytes\":" << all.bytes
            << ",\"seconds\":" << took.count()
            << ",\"failures\":" << all.failures << ",\"errors\":" << all.errors
            << "}" << std::endl;
}

// -- WebSockets ---------------------------------------------------------------

using web_socket = beast::websocket::stream<beast::tcp_stream>;

net::awaitable<void> open_one(tcp::endpoint place, std::string path,
                              web_socket& socket) {
  co_await beast::get_lowest_layer(socket).async_connect(place, wait);
  co_await socket.async_handshake("localhost", path, wait);
  const std::string open = R"({"open":{}})";
  co_await socket.async_write(net::buffer(open), wait);
  beast::flat_buffer buffer;
  co_await socket.async_read(buffer, wait);
}

net::awaitable<void> open_all(tcp::endpoint place, std::string path,
                              std::vector<std::unique_ptr<web_socket>>& to) {
  for (auto& socket : to)
    co_await open_one(place, path, *socket);
  std::cout << "all are open" << std::endl;
}

void hold_web_sockets(const std::string& port, std::string path, int count) {
  net::io_context io{1};
  std::vector<std::unique_ptr<web_socket>> all;
  for (int i = 0; i < count; ++i)
    all.push_back(std::make_unique<web_socket>(io));
  net::co_spawn(io, open_all(place_of(port), std::move(path), all),
                [](std::exception_ptr x) {
                  if (x)
                    std::rethrow_exception(x);
                });
  io.run();
  std::cin.get();
}

} // namespace

int main(int argc, char** argv) {
  try {
    const std::vector<std::string> words{argv + 1, argv + argc};
    if (words.size() == 1 && words[0] == "echo")
      serve_echo();
    else if (words.size() == 6 && words[0] == "call")
      call_server(words[1], words[2], words[3], std::stoi(words[4]),
                  std::stod(words[5]));
    else if (words.size() == 5 && words[0] == "stream")
      read_streams(words[1], words[2], words[3], std::stoi(words[4]));
    else if (words.size() == 4 && words[0] == "hold")
      hold_web_sockets(words[1], words[2], std::stoi(words[3]));
    else
      throw std::invalid_argument{"see the comment in http_load.cpp"};
  } catch (const std::exception& x) {
    std::cerr << "http_load: " << x.what() << '\n';
    return EXIT_FAILURE;
  }
}
