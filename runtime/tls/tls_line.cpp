// SPDX-License-Identifier: BSD-3-Clause

#include "tls_line.hpp"

#include <cerrno>
#include <chrono>
#include <utility>

#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <sys/socket.h>

namespace tertulia::network {

namespace asio = boost::asio;

using boost::system::error_code;

tls_line::tls_line(std::unique_ptr<tls_stream> remote)
  : remote_(std::move(remote)), local_(remote_->get_executor()),
    linger_(remote_->get_executor()) {}

asio::awaitable<void> tls_line::receive_first() {
  received_
    = co_await remote_->async_read_some(asio::buffer(in_), asio::use_awaitable);
}

int tls_line::start() {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
    throw boost::system::system_error{
      error_code{errno, boost::system::system_category()}};
  local_.assign({}, ends[0]);
  auto& socket = remote_->next_layer().socket();
  error_code ignored;
  socket.set_option(asio::ip::tcp::no_delay{true}, ignored);
  socket.set_option(asio::socket_base::keep_alive{true}, ignored);
  remote_->next_layer().expires_never();
  const auto at = remote_->get_executor();
  asio::co_spawn(at, encrypt(shared_from_this()), asio::detached);
  asio::co_spawn(at, decrypt(shared_from_this()), asio::detached);
  asio::co_spawn(at, watch(shared_from_this()), asio::detached);
  return ends[1];
}

asio::awaitable<void> tls_line::encrypt(line_ptr self) {
  error_code error;
  while (!error) {
    const auto size = co_await self->local_.async_read_some(
      asio::buffer(self->out_),
      asio::redirect_error(asio::use_awaitable, error));
    if (!error)
      co_await asio::async_write(*self->remote_, asio::buffer(self->out_, size),
                                 asio::redirect_error(asio::use_awaitable,
                                                      error));
  }
  self->close();
}

asio::awaitable<void> tls_line::decrypt(line_ptr self) {
  error_code error;
  while (!error) {
    co_await asio::async_write(
      self->local_, asio::buffer(self->in_, self->received_),
      asio::redirect_error(asio::use_awaitable, error));
    if (!error)
      self->received_ = co_await self->remote_->async_read_some(
        asio::buffer(self->in_),
        asio::redirect_error(asio::use_awaitable, error));
  }
  // A connection that ends without TLS's `close_notify` is treated like any
  // other: the protocol above counts its bytes.
  self->close();
}

/// Closes a line if its local end is gone while its peer does not read.
asio::awaitable<void> tls_line::watch(line_ptr self) {
  error_code error;
  co_await self->local_.async_wait(asio::socket_base::wait_error,
                                   asio::redirect_error(asio::use_awaitable,
                                                        error));
  if (self->closed_)
    co_return;
  self->linger_.expires_after(std::chrono::seconds{1});
  co_await self->linger_.async_wait(
    asio::redirect_error(asio::use_awaitable, error));
  self->close();
}

void tls_line::close() {
  closed_ = true;
  error_code ignored;
  local_.close(ignored);
  remote_->next_layer().socket().close(ignored);
  linger_.cancel();
}

} // namespace tertulia::network
