// SPDX-License-Identifier: BSD-3-Clause

#include "web_socket.hpp"

#include <tertulia/status_error.hpp>

#include <utility>

#include "exchange.hpp"
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/websocket/rfc6455.hpp>
#include <boost/beast/websocket/stream.hpp>

namespace tertulia::web {

namespace {

class beast_socket final : public web_socket {
public:
  beast_socket(server_stream stream, const http_server_options& options,
               std::shared_ptr<live_session> keeps)
    : socket_(std::move(stream)), keeps_(std::move(keeps)) {
    auto limits = beast::websocket::stream_base::timeout::suggested(
      beast::role_type::server);
    limits.idle_timeout = options.idle_within;
    socket_.set_option(limits);
    socket_.read_message_max(options.max_body);
    socket_.auto_fragment(false);
    socket_.text(true);
  }

  net::awaitable<bool> accept(const request_message& x) override {
    // A browser drops a WebSocket whose offered protocols are all ignored.
    const auto offers = field_of(x, http::field::sec_websocket_protocol);
    if (offers.find(web_socket_protocol) != std::string_view::npos)
      socket_.set_option(beast::websocket::stream_base::decorator(
        [](beast::websocket::response_type& to) {
          to.set(http::field::sec_websocket_protocol, web_socket_protocol);
        }));
    const auto [problem] = co_await socket_.async_accept(x, as_result);
    co_return !problem;
  }

  net::awaitable<std::optional<std::string>> read() override {
    const auto [problem, size]
      = co_await socket_.async_read(buffer_, as_result);
    if (problem)
      co_return std::nullopt;
    if (!socket_.got_text())
      throw status_error{errc::unimplemented, "only text is understood"};
    std::string result{static_cast<const char*>(buffer_.data().data()), size};
    buffer_.consume(size);
    if (buffer_.capacity() > kept_buffer)
      buffer_ = {};
    co_return result;
  }

  net::awaitable<bool> write(std::string_view text) override {
    const auto [problem, size] = co_await socket_.async_write(
      net::buffer(text.data(), text.size()), as_result);
    co_return !problem;
  }

  net::awaitable<void> close(std::uint16_t code,
                             std::string_view reason) override {
    beast::websocket::close_reason why{code};
    why.reason.assign(reason.data(), reason.size());
    co_await socket_.async_close(why, as_result);
  }

  [[nodiscard]] std::uint16_t closed_with() const override {
    return socket_.reason().code;
  }

  void abort() override {
    beast::get_lowest_layer(socket_).close();
  }

private:
  static constexpr std::size_t kept_buffer = 4'096;

  beast::websocket::stream<server_stream> socket_;
  beast::flat_buffer buffer_;
  std::shared_ptr<live_session> keeps_;
};

} // namespace

std::unique_ptr<web_socket>
make_web_socket(server_stream stream, const http_server_options& options,
                std::shared_ptr<live_session> keeps) {
  return std::make_unique<beast_socket>(std::move(stream), options,
                                        std::move(keeps));
}

} // namespace tertulia::web
