// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/json.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/websocket/stream.hpp>

namespace tertulia::test {

/// Client of a web server that sends exactly the bytes that a test specifies.
class web_client {
  using tcp = boost::asio::ip::tcp;

public:
  explicit web_client(std::uint16_t port) : socket_(io_) {
    socket_.connect({boost::asio::ip::address_v4::loopback(), port});
  }

  /// Sends bytes as they are.
  void send(std::string_view bytes) {
    boost::asio::write(socket_,
                       boost::asio::buffer(bytes.data(), bytes.size()));
  }

  /// Sends a request, with the fields that a request needs.
  /// @param fields further ones, each with its end of a line.
  void ask(const std::string& method, const std::string& target,
           const std::string& body = {}, const std::string& fields = {}) {
    send(method + " " + target + " HTTP/1.1\r\nHost: localhost\r\n" + fields
         + (body.empty()
              ? std::string{}
              : "Content-Length: " + std::to_string(body.size()) + "\r\n")
         + "\r\n" + body);
  }

  /// Response to a request.
  struct response {
    unsigned status = 0;
    std::string body;
    boost::beast::http::fields fields;

    [[nodiscard]] json document() const {
      return json::parse(body);
    }

    [[nodiscard]] std::string field(const char* name) const {
      const auto value = fields[name];
      return {value.data(), value.size()};
    }
  };

  /// Reads a response to its end.
  response read(bool is_head = false) {
    boost::beast::http::response_parser<boost::beast::http::string_body> parser;
    parser.skip(is_head);
    parser.body_limit(boost::none);
    boost::beast::http::read(socket_, buffer_, parser);
    auto whole = parser.release();
    return {whole.result_int(), std::move(whole.body()),
            std::move(whole.base())};
  }

  /// Sends a request and reads the response.
  response call(const std::string& method, const std::string& target,
                const std::string& body = {}, const std::string& fields = {}) {
    ask(method, target, body, fields);
    return read(method == "HEAD");
  }

  /// Reads raw bytes until they contain a text, or until the end.
  /// @returns all that was read since the last call, up to the text.
  std::string read_until(std::string_view text) {
    for (;;) {
      if (const auto i = raw_.find(text); i != std::string::npos) {
        auto result = raw_.substr(0, i + text.size());
        raw_.erase(0, result.size());
        return result;
      }
      char bytes[4'096];
      boost::system::error_code problem;
      const auto size = socket_.read_some(boost::asio::buffer(bytes), problem);
      if (problem)
        return std::exchange(raw_, {});
      raw_.append(bytes, size);
    }
  }

  /// Returns whether the server has ended the connection.
  bool has_ended() {
    char byte = 0;
    boost::system::error_code problem;
    boost::asio::read(socket_, boost::asio::buffer(&byte, 1), problem);
    return static_cast<bool>(problem);
  }

  void end_of_sending() {
    socket_.shutdown(tcp::socket::shutdown_send);
  }

  void close() {
    socket_.close();
  }

  tcp::socket& socket() noexcept {
    return socket_;
  }

private:
  boost::asio::io_context io_;
  tcp::socket socket_;
  boost::beast::flat_buffer buffer_;
  std::string raw_;
};

/// WebSocket to an action of a server.
class web_talk {
public:
  using tcp = boost::asio::ip::tcp;

  /// @param decorate changes the request, such as its origin.
  template <class Decorator>
  web_talk(std::uint16_t port, const std::string& target, Decorator decorate)
    : io_(std::make_unique<boost::asio::io_context>()), socket_(*io_) {
    socket_.next_layer().connect(
      {boost::asio::ip::address_v4::loopback(), port});
    socket_.set_option(
      boost::beast::websocket::stream_base::decorator(decorate));
    socket_.handshake("localhost", target);
  }

  web_talk(std::uint16_t port, const std::string& target)
    : web_talk(port, target, [](auto&) {}) {}

  void send(const json& message) {
    send_text(message.dump());
  }

  void send_text(const std::string& text) {
    socket_.text(true);
    socket_.write(boost::asio::buffer(text));
  }

  void send_binary(const std::string& bytes) {
    socket_.binary(true);
    socket_.write(boost::asio::buffer(bytes));
  }

  /// Reads a message; null at the end, whose code is then known.
  json read() {
    boost::beast::flat_buffer buffer;
    boost::system::error_code problem;
    socket_.read(buffer, problem);
    if (problem)
      return nullptr;
    const auto data = buffer.data();
    return json::parse(
      std::string{static_cast<const char*>(data.data()), data.size()});
  }

  /// Reads messages until one has a member.
  json read_until(const std::string& member) {
    for (;;) {
      auto result = read();
      if (result.is_null() || result.contains(member))
        return result;
    }
  }

  /// Returns the code with which the server has ended the WebSocket.
  std::uint16_t code() {
    while (!read().is_null()) {
    }
    return socket_.reason().code;
  }

  /// The connection, for bytes that are not a whole message.
  tcp::socket& connection() noexcept {
    return socket_.next_layer();
  }

  /// Ends the connection without saying so.
  void drop() {
    connection().close();
  }

  void close() {
    boost::system::error_code ignored;
    socket_.close(boost::beast::websocket::close_code::normal, ignored);
  }

private:
  std::unique_ptr<boost::asio::io_context> io_;
  boost::beast::websocket::stream<tcp::socket> socket_;
};

} // namespace tertulia::test
