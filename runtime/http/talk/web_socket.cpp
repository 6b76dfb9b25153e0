// SPDX-License-Identifier: BSD-3-Clause

#include "web_socket.hpp"

#include <tertulia/status_error.hpp>

#include <algorithm>
#include <utility>

#include "message/error_body.hpp"
#include "message/exchange.hpp"
#include "server/time_limit.hpp"
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/websocket/rfc6455.hpp>
#include <boost/beast/websocket/stream.hpp>

namespace tertulia::web {

namespace {

class beast_socket final : public web_socket {
public:
  beast_socket(server_stream stream, const http_server_options& options,
               std::shared_ptr<live_session> keeps)
    : socket_(std::move(stream)), keeps_(std::move(keeps)),
      message_within_(options.request_within),
      write_within_(options.write_within),
      reads_within_(socket_.get_executor(), [this] { abort(); }),
      limit_(socket_.get_executor(), [this] { abort(); }) {
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
    const auto offers = items_of(x, http::field::sec_websocket_protocol);
    if (std::find(offers.begin(), offers.end(), web_socket_protocol)
        != offers.end())
      socket_.set_option(beast::websocket::stream_base::decorator(
        [](beast::websocket::response_type& to) {
          to.set(http::field::sec_websocket_protocol, web_socket_protocol);
        }));
    const auto [problem] = co_await socket_.async_accept(x, as_result);
    co_return !problem;
  }

  // Many WebSockets wait for long, so the buffer is small until something
  // comes.
  net::awaitable<std::optional<std::string>> read() override {
    beast::flat_buffer buffer;
    auto is_due = !std::exchange(has_begun_, true); // the first message is
    if (is_due)
      reads_within_.set(message_within_);
    do {
      const auto step = buffer.size() == 0 ? first_step : further_step;
      const auto [problem, size]
        = co_await socket_.async_read_some(buffer, step, as_result);
      if (problem)
        co_return std::nullopt;
      if (!socket_.is_message_done() && !std::exchange(is_due, true))
        reads_within_.set(message_within_);
    } while (!socket_.is_message_done());
    reads_within_.clear();
    if (!socket_.got_text())
      throw status_error{errc::unimplemented, "only text is understood"};
    co_return std::string{static_cast<const char*>(buffer.data().data()),
                          buffer.size()};
  }

  net::awaitable<bool> write(std::string_view text) override {
    limit_.set(write_within_);
    const auto [problem, size] = co_await socket_.async_write(
      net::buffer(text.data(), text.size()), as_result);
    limit_.clear();
    co_return !problem;
  }

  net::awaitable<void> close(std::uint16_t code,
                             std::string_view reason) override {
    beast::websocket::close_reason why{code};
    why.reason.assign(reason.data(), reason.size());
    limit_.set(write_within_);
    co_await socket_.async_close(why, as_result);
    limit_.clear();
  }

  [[nodiscard]] std::uint16_t closed_with() const override {
    return socket_.reason().code;
  }

  void abort() override {
    boost::system::error_code ignored;
    beast::get_lowest_layer(socket_).close(ignored);
  }

private:
  static constexpr std::size_t first_step = 256;
  static constexpr std::size_t further_step = 16'384;

  beast::websocket::stream<server_stream, false> socket_; // does not compress
  std::shared_ptr<live_session> keeps_;
  const caf::timespan message_within_;
  const caf::timespan write_within_;
  time_limit reads_within_;
  time_limit limit_;
  bool has_begun_ = false; ///< whether a message was waited for
};

} // namespace

std::optional<response_message> web_socket_refusal(const request_message& x) {
  const auto refuse = [](http::status status, errc code, const char* text) {
    auto result = json_response(status, error_text({code, text}));
    result.add("Upgrade", "websocket");
    result.add("Sec-WebSocket-Version", "13");
    return result;
  };
  if (!beast::websocket::is_upgrade(x))
    return refuse(http::status::upgrade_required, errc::failed_precondition,
                  "a WebSocket is expected here");
  if (field_of(x, http::field::sec_websocket_version) != "13")
    return refuse(http::status::upgrade_required, errc::failed_precondition,
                  "Sec-WebSocket-Version: is not 13");
  // 16 bytes in Base64 are 22 digits and two signs.
  const auto key = field_of(x, http::field::sec_websocket_key);
  const auto is_digit = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')
           || (c >= '0' && c <= '9') || c == '+' || c == '/';
  };
  constexpr std::size_t digits = 22;
  if (key.size() != digits + 2 || key.substr(digits) != "=="
      || !std::all_of(key.begin(), key.begin() + digits, is_digit))
    return refuse(http::status::bad_request, errc::invalid_argument,
                  "Sec-WebSocket-Key: is not 16 bytes in Base64");
  return std::nullopt;
}

std::unique_ptr<web_socket>
make_web_socket(server_stream stream, const http_server_options& options,
                std::shared_ptr<live_session> keeps) {
  return std::make_unique<beast_socket>(std::move(stream), options,
                                        std::move(keeps));
}

} // namespace tertulia::web
