// SPDX-License-Identifier: BSD-3-Clause

#include "tls_port.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <utility>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <spdlog/logger.h>
#include <sys/socket.h>
#include <unistd.h>

using namespace std::chrono_literals;

namespace tertulia::network {

namespace asio = boost::asio;

using boost::system::error_code;

namespace {

constexpr auto handshake_within = 5s;
constexpr std::ptrdiff_t max_guests_of_address = 64;
constexpr std::size_t max_guests = 256;

} // namespace

tls_port::tls_port(tls_thread& at, std::shared_ptr<asio::ssl::context> tls,
                   const asio::ip::tcp::endpoint& endpoint,
                   std::shared_ptr<spdlog::logger> log)
  : acceptor_(at.context(), endpoint, /*reuse_addr=*/true),
    tls_(std::move(tls)), log_(std::move(log)),
    port_(acceptor_.local_endpoint().port()) {
  // A packet socket, so that a number is never read in part.
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0)
    throw boost::system::system_error{
      error_code{errno, boost::system::system_category()}};
  arrivals_ = ends[0];
  to_arrivals_ = ends[1];
}

tls_port::~tls_port() {
  for (const int x : {arrivals_, to_arrivals_})
    if (x >= 0)
      ::close(x);
}

void tls_port::start() {
  asio::co_spawn(acceptor_.get_executor(), accept(shared_from_this()),
                 asio::detached);
}

void tls_port::stop() {
  asio::post(acceptor_.get_executor(), [self = shared_from_this()] {
    error_code ignored;
    self->acceptor_.close(ignored);
    for (const auto& x : self->guests_)
      x.stream->next_layer().close();
  });
}

int tls_port::take_arrivals() noexcept {
  return std::exchange(arrivals_, -1);
}

asio::awaitable<void> tls_port::accept(port_ptr self) {
  asio::steady_timer pause{self->acceptor_.get_executor()};
  while (true) {
    error_code error;
    auto socket = co_await self->acceptor_.async_accept(
      asio::redirect_error(asio::use_awaitable, error));
    if (!self->acceptor_.is_open())
      co_return;
    if (error) {
      // Most likely out of descriptors: without a pause it would fail again at
      // once.
      pause.expires_after(100ms);
      co_await pause.async_wait(
        asio::redirect_error(asio::use_awaitable, error));
      continue;
    }
    const auto from = socket.remote_endpoint(error).address();
    if (error)
      continue; // already disconnected
    self->make_room(from);
    asio::co_spawn(self->acceptor_.get_executor(),
                   shake_hands(self, from, std::move(socket)), asio::detached);
  }
}

asio::awaitable<void> tls_port::shake_hands(port_ptr self,
                                            asio::ip::address address,
                                            asio::ip::tcp::socket socket) {
  auto stream = std::make_unique<tls_stream>(std::move(socket), *self->tls_);
  stream->next_layer().expires_after(handshake_within);
  const guest entry{address, stream.get()};
  const auto here = self->guests_.insert(self->guests_.end(), entry);
  error_code error;
  co_await stream->async_handshake(asio::ssl::stream_base::server,
                                   asio::redirect_error(asio::use_awaitable,
                                                        error));
  self->guests_.erase(here);
  if (!self->acceptor_.is_open())
    co_return;
  if (error) {
    self->log_->debug("{} was rejected: {}", address.to_string(),
                      error.message());
    co_return;
  }
  try {
    self->hand_on(std::move(stream));
  } catch (const boost::system::system_error& x) {
    self->log_->warn("{} cannot be served: {}", address.to_string(), x.what());
  }
}

void tls_port::make_room(const asio::ip::address& address) {
  const auto is_neighbor = [&](const guest& x) { return x.address == address; };
  auto oldest = guests_.end();
  if (std::count_if(guests_.begin(), guests_.end(), is_neighbor)
      >= max_guests_of_address)
    oldest = std::find_if(guests_.begin(), guests_.end(), is_neighbor);
  else if (guests_.size() >= max_guests)
    oldest = guests_.begin();
  if (oldest == guests_.end())
    return;
  oldest->stream->next_layer().close();
  // Its own coroutine removes it. Until then it must not be chosen again.
  guests_.splice(guests_.end(), guests_, oldest);
}

void tls_port::hand_on(std::unique_ptr<tls_stream> stream) {
  const auto line = std::make_shared<tls_line>(std::move(stream));
  const int plain = line->start();
  if (::send(to_arrivals_, &plain, sizeof plain, MSG_DONTWAIT | MSG_NOSIGNAL)
      == sizeof plain)
    return;
  const error_code reason{errno, boost::system::system_category()};
  ::close(plain); // ends the line
  throw boost::system::system_error{reason};
}

} // namespace tertulia::network
