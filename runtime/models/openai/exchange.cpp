// SPDX-License-Identifier: BSD-3-Clause

#include "exchange.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <exception>
#include <utility>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/http.hpp>

namespace tertulia::openai {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;

namespace {

[[noreturn]] void fail_to_read(beast::error_code reason) {
  if (reason == beast::error::timeout)
    throw status_error{errc::deadline_exceeded,
                       "the server sent nothing for too long"};
  if (reason == http::error::header_limit || reason == http::error::body_limit
      || reason == http::error::buffer_overflow)
    throw status_error{errc::resource_exhausted,
                       "the server's answer is too long"};
  const auto is_cut = reason == http::error::end_of_stream
                      || reason == http::error::partial_message;
  if (!is_cut
      && reason.category()
           == make_error_code(http::error::bad_version).category())
    throw status_error{errc::data_loss,
                       "the server's answer is no HTTP: " + reason.message()};
  throw status_error{errc::unavailable,
                     "the connection was lost: " + reason.message()};
}

std::string as_string(beast::string_view x) {
  return {x.data(), x.size()};
}

/// Returns the encoding of a body apart from `chunked`; empty if it has none.
std::string encoding_of(const http::fields& head) {
  const auto transfer = head[http::field::transfer_encoding];
  if (!transfer.empty() && !beast::iequals(transfer, "chunked"))
    return as_string(transfer);
  const auto content = head[http::field::content_encoding];
  return beast::iequals(content, "identity") ? std::string{}
                                             : as_string(content);
}

} // namespace

asio::awaitable<answer_head> exchange::open(std::string body) {
  const auto self = shared_from_this();
  const auto& options = with_->options;
  // The server may have closed a pooled connection. In that case the request is
  // sent again, once, on a new one.
  for (int attempt = 0; attempt < 2; ++attempt) {
    check_open();
    line_ = attempt == 0 ? with_->pool.take() : nullptr;
    const auto is_kept = line_ != nullptr;
    if (!is_kept) {
      line_ = std::make_unique<connection>(with_->at);
      try {
        co_await line_->connect(with_->to);
      } catch (const status_error& x) {
        check_open();
        if (x.code() != errc::unavailable
            && x.code() != errc::deadline_exceeded)
          throw;
        throw no_answer{x.code(), x.message()};
      }
      check_open();
    }
    // The parser does not limit the data between the bytes of a body: sizes and
    // extensions of chunks, and trailers. They are read as a whole, so the
    // limit of the buffer applies to them.
    line_->read_ahead.max_size(options.max_header_size + 4'096);
    line_->socket.expires_after(options.first_byte_within);
    beast::error_code error;
    try {
      co_await send(body);
    } catch (const beast::system_error& x) {
      error = x.code();
    }
    parser_.emplace();
    head_size_ = 0;
    if (!error)
      error = co_await read_answer_head();
    check_open();
    if (!error)
      break;
    const auto nothing_came = head_size_ == 0 && !parser_->got_some()
                              && line_->read_ahead.size() == 0;
    line_.reset();
    if (is_kept && nothing_came && error != beast::error::timeout)
      continue;
    if (nothing_came && error == beast::error::timeout)
      throw status_error{errc::deadline_exceeded,
                         "the server did not begin to answer in time"};
    if (nothing_came)
      throw no_answer{errc::unavailable,
                      "the server closed the connection without an answer"};
    fail_to_read(error);
  }
  const auto& head = parser_->get();
  answer_head result;
  result.status = head.result_int();
  result.content_type = as_string(head[http::field::content_type]);
  result.encoding = encoding_of(head);
  result.retry_after = as_string(head[http::field::retry_after]);
  co_return result;
}

asio::awaitable<std::string> exchange::read() {
  const auto self = shared_from_this();
  check_open();
  std::array<char, 4096> bytes; // one such array per waiting chat
  std::size_t size = 0;
  while (size == 0 && line_ && !parser_->is_done()) {
    if (failed_) { // the error after the bytes of the last call
      close();
      fail_to_read(failed_);
    }
    auto& to = parser_->get().body();
    to.data = bytes.data();
    to.size = bytes.size();
    to.more = true;
    line_->socket.expires_after(next_bytes_within_);
    failed_ = co_await read_some();
    check_open();
    if (failed_ == http::error::need_buffer)
      failed_ = {};
    // Received data is consumed now, so that the end is detected together with
    // the last bytes. The parser must not be eager for that: it would wait for
    // more.
    while (!failed_ && !parser_->is_done() && line_->read_ahead.size() > 0
           && parser_->get().body().size > 0) {
      const auto used = parser_->put(line_->read_ahead.data(), failed_);
      line_->read_ahead.consume(used);
      if (failed_ == http::error::need_more
          || failed_ == http::error::need_buffer) {
        failed_ = {};
        break;
      }
    }
    size = bytes.size() - parser_->get().body().size;
  }
  if (line_ && parser_->is_done()) {
    line_->socket.expires_never();
    if (!failed_ && parser_->get().keep_alive()
        && line_->read_ahead.size() == 0)
      with_->pool.give(std::move(line_));
    line_.reset();
  }
  co_return std::string(bytes.data(), size);
}

void exchange::finish_soon() {
  asio::co_spawn(with_->at, drain(),
                 [self = shared_from_this()](const std::exception_ptr&) {});
}

asio::awaitable<void> exchange::drain() {
  const auto self = shared_from_this();
  next_bytes_within_
    = std::min<caf::timespan>(next_bytes_within_, std::chrono::seconds{1});
  try {
    for (int i = 0; i < 8 && line_; ++i)
      co_await read();
  } catch (const std::exception&) {
    // The rest of the answer is not needed.
  }
  close();
}

void exchange::close_soon() noexcept {
  try {
    asio::post(with_->at, [self = shared_from_this()] { self->close(); });
  } catch (const std::exception&) {
    // Out of memory: it is closed by its time-outs, or with its owner.
  }
}

asio::awaitable<void> exchange::send(const std::string& body) {
  const auto& options = with_->options;
  http::request<http::string_body> question{http::verb::post, with_->target,
                                            11};
  question.set(http::field::host, with_->to.server.authority());
  question.set(http::field::user_agent, "tertulia");
  question.set(http::field::content_type, "application/json");
  question.set(http::field::accept, "text/event-stream, application/json");
  question.set(http::field::accept_encoding, "identity");
  if (!options.api_key.empty())
    question.set(http::field::authorization, "Bearer " + options.api_key);
  for (const auto& [name, value] : options.headers)
    question.set(name, value);
  question.body() = body;
  question.prepare_payload();
  if (line_->tls)
    co_await http::async_write(*line_->tls, question, asio::use_awaitable);
  else
    co_await http::async_write(line_->socket, question, asio::use_awaitable);
}

asio::awaitable<beast::error_code> exchange::read_answer_head() {
  const auto limit = with_->options.max_header_size;
  for (;;) {
    parser_.emplace();
    parser_->header_limit(static_cast<std::uint32_t>(limit));
    parser_->body_limit(with_->options.max_answer_size);
    const auto error = co_await read_head();
    if (error || parser_->get().result_int() / 100 != 1)
      co_return error;
    if (head_size_ > limit)
      co_return http::error::header_limit;
  }
}

asio::awaitable<beast::error_code> exchange::read_head() {
  beast::error_code error;
  std::size_t size = 0;
  if (line_->tls)
    size = co_await http::async_read_header(
      *line_->tls, line_->read_ahead, *parser_,
      asio::redirect_error(asio::use_awaitable, error));
  else
    size = co_await http::async_read_header(
      line_->socket, line_->read_ahead, *parser_,
      asio::redirect_error(asio::use_awaitable, error));
  head_size_ += size;
  co_return error;
}

asio::awaitable<beast::error_code> exchange::read_some() {
  beast::error_code error;
  if (line_->tls)
    co_await http::async_read_some(*line_->tls, line_->read_ahead, *parser_,
                                   asio::redirect_error(asio::use_awaitable,
                                                        error));
  else
    co_await http::async_read_some(line_->socket, line_->read_ahead, *parser_,
                                   asio::redirect_error(asio::use_awaitable,
                                                        error));
  co_return error;
}

void exchange::close() {
  closed_ = true;
  // Pending operations still use the connection: they end with an error and
  // then check `closed_`.
  if (line_)
    line_->close();
}

void exchange::check_open() const {
  if (closed_)
    throw status_error{errc::cancelled, "the request was cancelled"};
}

} // namespace tertulia::openai
