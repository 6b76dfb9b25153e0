// SPDX-License-Identifier: BSD-3-Clause

#include "token_server.hpp"

#include <array>
#include <charconv>
#include <stdexcept>
#include <string_view>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

namespace tertulia::bench {

namespace {

constexpr std::uint64_t listener_mark = ~std::uint64_t{0};
constexpr std::uint64_t orders_mark = listener_mark - 1;

std::string as_chunk(std::string_view text) {
  std::array<char, 24> size{};
  const auto end
    = std::to_chars(size.data(), size.data() + size.size(), text.size(), 16);
  std::string result(size.data(), end.ptr);
  result += "\r\n";
  result += text;
  return result += "\r\n";
}

/// Returns an event of the length that real servers send.
std::string event(std::string_view delta, std::string_view reason) {
  std::string data = R"(data: {"id":"chatcmpl-0123456789abcdefghijklmnopqrs",)"
                     R"("object":"chat.completion.chunk",)"
                     R"("created":1700000000,"model":"bench",)"
                     R"("choices":[{"index":0,"delta":)";
  data += delta;
  data += R"(,"logprobs":null,"finish_reason":)";
  data += reason;
  return as_chunk(data += "}]}\n\n");
}

std::string token() {
  return event(R"({"content":" token"})", "null");
}

std::string end_of_answer() {
  return event("{}", R"("stop")") + as_chunk("data: [DONE]\n\n") + "0\r\n\r\n";
}

std::string begin_of_answer() {
  return "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
         "Transfer-Encoding: chunked\r\n\r\n"
         + token();
}

/// Returns whether a request is complete.
bool is_whole(std::string_view text) {
  constexpr std::string_view field = "Content-Length: ";
  const auto end = text.find("\r\n\r\n");
  const auto at = text.substr(0, end).find(field);
  if (end == std::string_view::npos || at == std::string_view::npos)
    return false;
  std::size_t size = 0;
  std::from_chars(text.data() + at + field.size(), text.data() + end, size);
  return text.size() >= end + 4 + size;
}

void check(bool holds, const char* what) {
  if (!holds)
    throw std::runtime_error{std::string{"the model's server: "} + what};
}

double microseconds(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) * 1e6
         + static_cast<double>(now.tv_nsec) / 1e3;
}

} // namespace

token_server::token_server(std::size_t max_clients) : clients_(max_clients) {
  for (auto& x : clients_)
    x.asked.reserve(4096); // no request here is longer
  listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* where = reinterpret_cast<sockaddr*>(&address);
  check(listener_ >= 0 && ::bind(listener_, where, size) == 0
          && ::listen(listener_, 4096) == 0
          && ::getsockname(listener_, where, &size) == 0,
        "cannot listen");
  port_ = ntohs(address.sin_port);
  orders_ = ::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  events_ = ::epoll_create1(EPOLL_CLOEXEC);
  const auto watch = [this](int what, std::uint64_t mark) {
    epoll_event wanted{};
    wanted.events = EPOLLIN;
    wanted.data.u64 = mark;
    return ::epoll_ctl(events_, EPOLL_CTL_ADD, what, &wanted) == 0;
  };
  check(watch(listener_, listener_mark) && watch(orders_, orders_mark),
        "cannot wait for anything");
  thread_ = std::thread{[this] { run(); }};
}

token_server::~token_server() {
  give(order::stop);
  thread_.join();
  for (const auto& x : clients_)
    if (x.socket >= 0)
      ::close(x.socket);
  ::close(events_);
  ::close(orders_);
  ::close(listener_);
}

std::string token_server::url() const {
  return "http://127.0.0.1:" + std::to_string(port_);
}

void token_server::send_token() {
  give(order::token);
}

void token_server::send_end() {
  give(order::end);
}

double token_server::cpu_microseconds() const {
  clockid_t clock{};
  pthread_getcpuclockid(const_cast<std::thread&>(thread_).native_handle(),
                        &clock);
  return microseconds(clock);
}

void token_server::give(order x) const {
  // The eventfd adds up orders that have not been read yet.
  const auto value = static_cast<std::uint64_t>(x);
  [[maybe_unused]] const auto written = ::write(orders_, &value, sizeof value);
}

void token_server::run() {
  std::array<epoll_event, 256> found{};
  while (!stopping_) {
    const auto count = ::epoll_wait(events_, found.data(), found.size(), -1);
    for (int i = 0; i < count; ++i) {
      const auto mark = found.at(static_cast<std::size_t>(i)).data.u64;
      if (mark == listener_mark)
        accept_all();
      else if (mark == orders_mark)
        take_orders();
      else
        hear(mark);
    }
  }
}

void token_server::take_orders() {
  static const auto next = token();
  static const auto last = end_of_answer();
  std::uint64_t given = 0;
  if (::read(orders_, &given, sizeof given) != sizeof given)
    return;
  constexpr auto end = static_cast<std::uint64_t>(order::end);
  stopping_ = given >= static_cast<std::uint64_t>(order::stop);
  for (auto i = given % end; i > 0; --i)
    tell_all(next, false);
  if (given >= end && !stopping_)
    tell_all(last, true);
}

void token_server::accept_all() {
  for (;;) {
    const auto socket
      = ::accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (socket < 0)
      return;
    const int on = 1;
    ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    std::size_t index = 0;
    while (index < clients_.size() && clients_[index].socket >= 0)
      ++index;
    epoll_event wanted{};
    wanted.events = EPOLLIN;
    wanted.data.u64 = index;
    if (index == clients_.size()
        || ::epoll_ctl(events_, EPOLL_CTL_ADD, socket, &wanted) != 0) {
      ::close(socket);
      continue;
    }
    auto& x = clients_[index];
    x.socket = socket;
    x.is_answering = false;
    x.asked.clear();
  }
}

void token_server::hear(std::size_t index) {
  static const auto first = begin_of_answer();
  auto& x = clients_[index];
  std::array<char, 4096> bytes{};
  const auto size = ::recv(x.socket, bytes.data(), bytes.size(), 0);
  if (size <= 0) {
    ::close(x.socket);
    x.socket = -1;
    return;
  }
  x.asked.append(bytes.data(), static_cast<std::size_t>(size));
  if (!is_whole(x.asked))
    return;
  x.asked.clear();
  x.is_answering = true;
  ::send(x.socket, first.data(), first.size(), MSG_NOSIGNAL);
}

void token_server::tell_all(const std::string& text, bool is_last) {
  for (auto& x : clients_)
    if (x.socket >= 0 && x.is_answering) {
      ::send(x.socket, text.data(), text.size(), MSG_NOSIGNAL);
      x.is_answering = !is_last;
    }
}

double cpu_microseconds() {
  return microseconds(CLOCK_PROCESS_CPUTIME_ID);
}

} // namespace tertulia::bench
