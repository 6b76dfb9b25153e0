// SPDX-License-Identifier: BSD-3-Clause

#include "endpoint.hpp"

#include <tertulia/detail/read_file.hpp>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <mutex>
#include <new>
#include <span>
#include <utility>

#include "transfer.hpp"
#include <fmt/format.h>
#include <sys/epoll.h>

namespace tertulia::http {

namespace {

// -- options ------------------------------------------------------------------

[[noreturn]] void refuse_options(const char* reason) {
  throw status_error{errc::invalid_argument, reason};
}

bool is_field_text(std::string_view x) {
  return std::all_of(x.begin(), x.end(),
                     [](char c) { return c >= ' ' && c != 0x7F; });
}

void check_fields(const http_fields& x) {
  for (const auto& [name, value] : x)
    if (name.empty() || name.find_first_of(" :\t") != std::string::npos
        || !is_field_text(name) || !is_field_text(value))
      refuse_options("a header field has a character that it must not have");
}

void check(const http_options& x) {
  check_fields(x.headers);
  for (const auto within : {x.connect_within, x.first_byte_within,
                            x.next_bytes_within, x.total_within})
    if (within.count() <= 0)
      refuse_options("a time to wait for a server must be positive");
  if (x.first_retry_after.count() < 0 || x.max_retry_after.count() < 0
      || x.max_retries < 0)
    refuse_options("a retry must not be negative");
  for (const auto limit : {x.max_header_size, x.max_line_size,
                           x.max_answer_size, x.max_error_size})
    if (limit == 0 || limit > 0x7FFF'FFFF)
      refuse_options("a limit must be from 1 byte up to 2 GiB");
}

std::string variable(const char* name) {
  const auto* found = std::getenv(name);
  return found == nullptr ? std::string{} : std::string{found};
}

/// Text of a setting, with the name of its source.
struct setting {
  const char* name;
  std::string text;
};

/// Returns the first of two environment variables that is set.
setting first_of(const char* name, const char* other) {
  setting result{name, variable(name)};
  return result.text.empty() ? setting{other, variable(other)} : result;
}

/// Parses the URL of a setting with `read`.
/// @errors as `read`, with the name of the setting.
template <class Read>
url read_url(const setting& x, Read read) {
  try {
    return read(x.text);
  } catch (const status_error& error) {
    throw status_error{error.code(),
                       fmt::format("{}: {}", x.name, error.message())};
  }
}

/// Reads the file once, so that a later change of it changes no connection.
std::string read_certificates(const std::string& file) {
  auto result = detail::read_file(file);
  if (result.find("-----BEGIN ") == std::string::npos)
    throw status_error{errc::invalid_argument,
                       fmt::format("{}: is not PEM", file)};
  return result;
}

/// Returns the texts that only the server may receive. Texts of less than 8
/// bytes are not hidden, such as the `none` that some servers want: without
/// them errors would be unreadable.
secrets secrets_of(const endpoint& x) {
  secrets result;
  const auto hide = [&](const std::string& text) {
    if (text.size() >= 8)
      result.push_back(text);
  };
  for (const auto& [name, value] : x.options.headers) {
    hide(value);
    hide(value.substr(value.rfind(' ') + 1)); // of `Bearer KEY`
  }
  if (x.proxy) {
    hide(x.proxy->user + ':' + x.proxy->password);
    hide(x.proxy->password);
  }
  return result;
}

void start_libcurl() {
  static std::once_flag once;
  std::call_once(once, [] {
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
      throw status_error{errc::internal, "libcurl cannot be started"};
  });
}

} // namespace

void check(const http_request& x) {
  if (x.method.empty()
      || x.method.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
           != std::string::npos)
    refuse_options("a method consists of capital letters");
  if (!x.path.empty() && x.path.front() != '/' && x.path.front() != '?')
    refuse_options("the path of a request must begin with a slash");
  if (x.path.find(' ') != std::string::npos
      || x.path.find('#') != std::string::npos || !is_field_text(x.path))
    refuse_options("a path has a character that must be encoded");
  check_fields(x.headers);
}

// -- endpoint -----------------------------------------------------------------

endpoint::endpoint(http_options with, caf::timespan freshness)
  : options(std::move(with)) {
  check(options);
  server = read_url({"base_url", options.base_url}, parse_url);
  if (!server.user.empty() || !server.password.empty()) // not sent
    refuse_options("the URL of a server must not contain its key");
  setting via{"proxy", options.proxy};
  if (via.text.empty() && server.secure) {
    via = first_of("HTTPS_PROXY", "https_proxy");
    no_proxy = exceptions_for(first_of("NO_PROXY", "no_proxy").text, server);
  }
  if (!via.text.empty())
    proxy = read_url(via, parse_proxy);
  if (!options.ca_file.empty())
    certificates = read_certificates(options.ca_file);
  ca_file = variable("SSL_CERT_FILE");
  ca_folder = variable("SSL_CERT_DIR");
  hidden = secrets_of(*this);
  start_libcurl();
  io = io_thread::shared();
  lines = std::make_shared<connections>(
    io->loop(), options.max_idle_connections, freshness);
}

endpoint::~endpoint() {
  // The last request may end on the I/O thread: within a call of `lines`.
  if (lines)
    io->loop().post([last = std::move(lines)] {});
}

// -- connections --------------------------------------------------------------

connections::connections(io_loop& loop, std::size_t max_idle,
                         caf::timespan freshness)
  : max_idle_(max_idle), freshness_(freshness),
    epoll_(::epoll_create1(EPOLL_CLOEXEC)), loop_(loop),
    due_(loop, [this] { on_due(); }), stale_(loop, [this] { multi_.reset(); }) {
}

connections::~connections() = default;

void connections::start(std::shared_ptr<transfer> x) {
  if (!is_watched_)
    loop_.watch(epoll_.get(), *this);
  is_watched_ = true;
  x->begin();
  queue_.push_back(std::move(x));
  drain_events();
}

void connections::remove(transfer& x) {
  std::erase_if(queue_, [&](const auto& y) { return y.get() == &x; });
  std::erase(doomed_, &x);
  name_found(x);
  if (const auto found = active_.find(&x); found != active_.end()) {
    curl_multi_remove_handle(multi_.get(), x.handle());
    // The caller holds it.
    active_.erase(found);
    keep_idle();
  }
}

void connections::resume(transfer& x) {
  if (!active_.contains(&x))
    return;
  // libcurl passes on the bytes that it has kept, and reports their refusal.
  const auto result = curl_easy_pause(x.handle(), CURLPAUSE_CONT);
  if (result != CURLE_OK)
    x.end(result);
  drain_events();
}

void connections::fail_queue(const std::exception_ptr& failure) {
  for (const auto& x : std::exchange(queue_, {}))
    x->end(failure);
}

int connections::on_socket(CURL*, curl_socket_t fd, int what, void* self,
                           void* known) {
  auto& lines = *static_cast<connections*>(self);
  const auto to = lines.epoll_.get();
  epoll_event event{};
  event.data.fd = fd;
  if (what == CURL_POLL_REMOVE) {
    ::epoll_ctl(to, EPOLL_CTL_DEL, fd, &event);
    return 0;
  }
  event.events = ((what & CURL_POLL_IN) != 0 ? EPOLLIN : 0U)
                 | ((what & CURL_POLL_OUT) != 0 ? EPOLLOUT : 0U);
  const auto action = known == nullptr ? EPOLL_CTL_ADD : EPOLL_CTL_MOD;
  if (::epoll_ctl(to, action, fd, &event) != 0)
    return -1; // libcurl ends all requests
  curl_multi_assign(lines.multi_.get(), fd, self);
  return 0;
}

int connections::on_timer(CURLM*, long milliseconds, void* self) {
  auto& due = static_cast<connections*>(self)->due_;
  if (milliseconds < 0)
    due.stop();
  else
    due.start(io_loop::clock::now() + std::chrono::milliseconds{milliseconds});
  return 0;
}

void connections::on_ready() {
  std::array<epoll_event, 64> events;
  const auto count = ::epoll_wait(epoll_.get(), events.data(),
                                  static_cast<int>(events.size()), 0);
  for (const auto& x :
       std::span{events}.first(static_cast<std::size_t>(std::max(count, 0))))
    act(x.data.fd,
        ((x.events & EPOLLIN) != 0 ? CURL_CSELECT_IN : 0)
          | ((x.events & EPOLLOUT) != 0 ? CURL_CSELECT_OUT : 0)
          | ((x.events & (EPOLLERR | EPOLLHUP)) != 0 ? CURL_CSELECT_ERR : 0));
}

void connections::on_due() {
  act(CURL_SOCKET_TIMEOUT, 0);
}

void connections::open_multi() {
  multi_.reset(curl_multi_init());
  if (!multi_)
    throw std::bad_alloc{};
  curl_multi_setopt(multi_.get(), CURLMOPT_SOCKETFUNCTION, on_socket);
  curl_multi_setopt(multi_.get(), CURLMOPT_SOCKETDATA, this);
  curl_multi_setopt(multi_.get(), CURLMOPT_TIMERFUNCTION, on_timer);
  curl_multi_setopt(multi_.get(), CURLMOPT_TIMERDATA, this);
}

void connections::act(curl_socket_t fd, int events) {
  int ignored = 0;
  if (multi_)
    curl_multi_socket_action(multi_.get(), fd, events, &ignored);
  drain_events();
}

void connections::drain_events() {
  if (std::exchange(is_draining_, true))
    return; // the caller continues
  while (handle_event()) {
  }
  is_draining_ = false;
}

bool connections::handle_event() {
  int left = 0;
  auto* done = multi_ ? curl_multi_info_read(multi_.get(), &left) : nullptr;
  if (done != nullptr) {
    char* owner = nullptr;
    curl_easy_getinfo(done->easy_handle, CURLINFO_PRIVATE, &owner);
    reinterpret_cast<transfer*>(owner)->end(done->data.result);
  } else if (!doomed_.empty()) {
    doomed_.back()->end(CURLE_ABORTED_BY_CALLBACK);
  } else if (looking_up_ == nullptr && !queue_.empty()) {
    start_next();
  } else {
    return false;
  }
  return true;
}

void connections::start_next() {
  const auto next = std::move(queue_.front());
  queue_.pop_front();
  if (!multi_)
    open_multi();
  looking_up_ = next.get();
  active_.emplace(next.get(), next);
  keep_idle();
  auto* handle = next->open();
  if (handle == nullptr
      || curl_multi_add_handle(multi_.get(), handle) != CURLM_OK)
    next->end(CURLE_OUT_OF_MEMORY);
  else
    act(CURL_SOCKET_TIMEOUT, 0);
}

void connections::keep_idle() {
  // libcurl compares this with the number of all connections when a request
  // ends, which is still active here.
  const auto most = std::max<std::size_t>(active_.size() + max_idle_, 2) - 1;
  curl_multi_setopt(multi_.get(), CURLMOPT_MAXCONNECTS,
                    static_cast<long>(most));
  if (active_.empty())
    stale_.start(io_loop::clock::now() + freshness_);
  else
    stale_.stop();
}

} // namespace tertulia::http
