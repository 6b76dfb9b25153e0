// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/ai/openai_model.hpp>
#include <tertulia/status.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "connection.hpp"
#include "connection_pool.hpp"
#include "failure.hpp"
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/beast/core/error.hpp>
#include <boost/beast/http/buffer_body.hpp>
#include <boost/beast/http/parser.hpp>

namespace tertulia::openai {

/// Target of requests, with its connections.
///
/// @threads the pool is used only on the I/O thread; all else never changes.
struct endpoint {
  ai::openai_options options;
  destination to;
  std::string target; // path of the request
  secrets hidden;     // texts that errors must not contain
  boost::asio::any_io_executor at;
  connection_pool pool;
};

/// Head of an answer.
struct answer_head {
  unsigned status = 0;
  std::string content_type;
  /// Encoding of the body, such as `gzip`; empty if it is not encoded.
  std::string encoding;
  std::string retry_after;
};

/// Error of a request that received no byte of an answer: it may be sent again.
class no_answer : public status_error {
public:
  using status_error::status_error;
};

/// Request and its answer, which is read only on demand.
///
/// @threads  only on the I/O thread, except for the constructor and
///           `close_soon`.
/// @lifetime shared by its waiters and its pending operations.
class exchange : public std::enable_shared_from_this<exchange> {
public:
  explicit exchange(std::shared_ptr<endpoint> with)
    : with_(std::move(with)),
      next_bytes_within_(with_->options.next_bytes_within) {}

  exchange(const exchange&) = delete;
  exchange& operator=(const exchange&) = delete;

  /// Sends a request and waits for the head of its answer. Interim answers
  /// (1xx) are skipped.
  /// @errors throws `no_answer` if no byte arrives; `resource_exhausted` for a
  ///         head that is too long; `data_loss` for an answer that is not HTTP;
  ///         `deadline_exceeded`.
  boost::asio::awaitable<answer_head> open(std::string body);

  /// Waits for the next bytes of the answer's body.
  /// @returns the bytes; empty at the end.
  /// @errors throws `unavailable` if the connection is lost before the end;
  ///         `resource_exhausted` for a body that is too long; `data_loss`;
  ///         `deadline_exceeded`.
  boost::asio::awaitable<std::string> read();

  /// Reads the rest of the answer and keeps the connection for the next
  /// request, if the rest is short and arrives soon; from any thread.
  void finish_soon();

  /// Closes the connection asynchronously on the I/O thread; from any thread.
  void close_soon() noexcept;

private:
  using parser_type
    = boost::beast::http::response_parser<boost::beast::http::buffer_body>;

  boost::asio::awaitable<void> send(const std::string& body);
  boost::asio::awaitable<boost::beast::error_code> read_head();
  boost::asio::awaitable<boost::beast::error_code> read_answer_head();
  boost::asio::awaitable<boost::beast::error_code> read_some();
  boost::asio::awaitable<void> drain();
  void close();
  void check_open() const;

  std::shared_ptr<endpoint> with_;
  std::unique_ptr<connection> line_;
  std::optional<parser_type> parser_;
  boost::beast::error_code failed_; // reason why reading has failed
  std::size_t head_size_ = 0;       // bytes of heads, including interim ones
  caf::timespan next_bytes_within_;
  bool closed_ = false;
};

} // namespace tertulia::openai
