// SPDX-License-Identifier: BSD-3-Clause

#include "server_core.hpp"

#include <tertulia/caller.hpp>
#include <tertulia/detail/registry.hpp>
#include <tertulia/status_error.hpp>

#include <utility>

#include "message/error_body.hpp"
#include "message/request_record.hpp"
#include "server_stream.hpp"
#include "talk/socket_session.hpp"
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <fmt/format.h>

namespace tertulia::web {

namespace {

/// Pause before the next attempt to accept a connection when the process has
/// no file descriptor left.
constexpr auto accept_pause = std::chrono::milliseconds{100};

/// Shortest time between two lines of the log about refused connections: a
/// flood of them is not one of lines.
constexpr auto refusal_log_pause = std::chrono::seconds{1};

const http_server_options& checked(const http_server_options& x) {
  const auto reject = [](const char* name) {
    throw status_error{errc::invalid_argument,
                       fmt::format("{}: is out of range", name)};
  };
  if (x.threads == 0 || x.threads > 1'024)
    reject("threads");
  if (x.max_header < 256)
    reject("max_header");
  if (x.max_body == 0)
    reject("max_body");
  for (const auto within : {x.request_within, x.idle_within, x.write_within,
                            x.stop_delay, x.drain_within})
    if (within.count() < 0 || within > std::chrono::hours{24})
      reject("a time limit");
  for (auto i = x.protocols.begin(); i != x.protocols.end(); ++i)
    for (auto j = x.protocols.begin(); j != i; ++j)
      if (&i->get() == &j->get())
        throw status_error{errc::invalid_argument,
                           "protocols: one of them is there twice"};
  if (x.grace.count() < 0)
    reject("grace");
  if (x.max_grace.count() < 0)
    reject("max_grace");
  return x;
}

/// Returns the name of a session with that of its owner.
std::string whole_name(const std::string& owner, const std::string& session) {
  if (owner.empty() || session.empty())
    return session;
  const auto result = session_of(caller_name{owner}, session_id{session});
  return result.str();
}

/// Returns the routes of a server with those of its protocols.
std::vector<route> with_protocols(route_table own,
                                  const http_server_options& x) {
  std::vector<route> result{own.begin(), own.end()};
  for (const web::protocol& one : x.protocols)
    result.insert(result.end(), one.routes.begin(), one.routes.end());
  return result;
}

/// Returns a list of header fields with those of the protocols of a server.
std::string with_protocols(std::string own, const http_server_options& x,
                           std::string_view protocol::*fields) {
  for (const web::protocol& one : x.protocols)
    if (const auto further = one.*fields; !further.empty())
      own.append(", ").append(further);
  return own;
}

} // namespace

server_core::server_core(runtime& rt, http_server_options options,
                         route_table routes)
  : runtime_(rt), options_(std::move(options)),
    routes_(with_protocols(routes, options_)),
    request_fields_(with_protocols("Authorization, Content-Type, "
                                   "Last-Event-ID, traceparent, tracestate",
                                   options_, &protocol::request_fields)),
    answer_fields_(
      with_protocols("Retry-After", options_, &protocol::answer_fields)),
    access_(options_), io_(rt.system(), checked(options_).threads),
    acceptor_(io_.first()) {
  if (!options_.certificate.empty())
    renew_certificate();
  try {
    const tcp::endpoint place{net::ip::make_address(options_.address),
                              options_.port};
    acceptor_.open(place.protocol());
    acceptor_.set_option(net::socket_base::reuse_address{true});
    acceptor_.bind(place);
    acceptor_.listen(net::socket_base::max_listen_connections);
    port_ = acceptor_.local_endpoint().port();
  } catch (const boost::system::system_error& x) {
    throw status_error{errc::unavailable,
                       fmt::format("{}:{}: {}", options_.address, options_.port,
                                   x.code().message())};
  }
}

void server_core::start() {
  net::co_spawn(io_.first(), accept_all(), net::detached);
  io_.start();
}

server_core::~server_core() {
  try {
    stop();
  } catch (...) {
    io_.join(); // otherwise its threads would not end
  }
}

void server_core::stop() {
  {
    std::unique_lock guard{mutex_};
    if (!std::exchange(is_stopping_, true))
      changed_.wait_for(guard, options_.stop_delay,
                        [this] { return is_draining_; });
    if (!std::exchange(is_draining_, true)) {
      drain_until_ = clock::now() + options_.drain_within;
      changed_.notify_all();
      net::post(io_.first(), [this] { acceptor_.close(); });
    }
    for (auto* x : sessions_)
      x->drain();
    const auto until = drain_until_;
    const auto is_done = [this] { return sessions_.empty(); };
    if (changed_.wait_until(guard, until, is_done)) {
      guard.unlock();
      wait_for_runs(until);
    } else {
      for (auto* x : sessions_)
        x->abort();
      changed_.wait_for(guard, std::chrono::seconds{1}, is_done);
    }
  }
  const std::lock_guard guard{join_mutex_};
  io_.join();
  log_refused(*this, std::exchange(refused_, {}));
}

void server_core::wait_for_runs(clock::time_point until) {
  const auto within = until - clock::now();
  if (within.count() <= 0)
    return;
  try {
    runtime_.wait_for_turns(within);
  } catch (const status_error&) {
    // This thread must not wait for actors.
  }
}

std::string server_core::url() const {
  const auto is_six = options_.address.find(':') != std::string::npos;
  return std::string{options_.certificate.empty() ? "http://" : "https://"}
         + (is_six ? "[" + options_.address + "]" : options_.address) + ":"
         + std::to_string(port_);
}

bool server_core::is_stopping() const {
  const std::lock_guard guard{mutex_};
  return is_stopping_;
}

std::size_t server_core::connections() const {
  const std::lock_guard guard{mutex_};
  return connections_;
}

std::shared_ptr<net::ssl::context> server_core::tls() const {
  const std::lock_guard guard{mutex_};
  return tls_;
}

void server_core::renew_certificate() {
  auto next = load_tls(options_.certificate, options_.key);
  const std::lock_guard guard{mutex_};
  tls_ = std::move(next);
}

json_action server_core::find(const std::string& key) const {
  if (!access_.exposes(key))
    throw status_error{errc::not_found, detail::no_action(key)};
  return runtime_.action(key);
}

void server_core::authorize(const std::string& caller, access_verb verb,
                            const std::string& key, const std::string& run,
                            const std::string& session) const {
  authorize(caller, verb, key, run, session, caller);
}

void server_core::authorize(const std::string& caller, access_verb verb,
                            const std::string& key, const std::string& run,
                            const std::string& session,
                            const std::string& owner) const {
  if (!access_.restricts()
      || (verb != access_verb::measure && !access_.exposes(key)))
    return; // it may do everything, or the action does not exist
  if (!access_.allows({caller, verb, key, run, whole_name(owner, session)}))
    throw status_error{errc::permission_denied, "the caller may not do this"};
}

bool server_core::approves(const std::string& caller, const std::string& owner,
                           const std::string& key, const std::string& run,
                           const std::string& session) const {
  if (!access_.has_approvers())
    return owner == caller;
  return access_.approves(
    {caller, owner, key, run, whole_name(owner, session)});
}

bool server_core::add(live_session& x) {
  const std::lock_guard guard{mutex_};
  if (is_draining_)
    return false;
  sessions_.insert(&x);
  return true;
}

void server_core::remove(live_session& x, const net::ip::address& from) {
  forget(from);
  const std::lock_guard guard{mutex_};
  sessions_.erase(&x);
  if (sessions_.empty())
    changed_.notify_all();
}

void server_core::forget(const net::ip::address& from) {
  const std::lock_guard guard{mutex_};
  --connections_;
  if (const auto i = by_address_.find(from);
      i != by_address_.end() && --i->second == 0)
    by_address_.erase(i);
}

unsigned server_core::admit(const net::ip::address& from) {
  const std::lock_guard guard{mutex_};
  if (connections_ >= options_.max_connections)
    return 503;
  auto& count = by_address_[from];
  if (count >= options_.max_connections_per_address)
    return 429;
  ++connections_;
  ++count;
  return 0;
}

net::awaitable<void> server_core::accept_all() {
  for (;;) {
    auto [problem, socket]
      = co_await acceptor_.async_accept(io_.next(), as_result);
    if (!acceptor_.is_open())
      co_return;
    if (problem) { // of one connection, or without file descriptors
      net::steady_timer pause{acceptor_.get_executor(), accept_pause};
      co_await pause.async_wait(as_result);
      continue;
    }
    const auto peer = socket.remote_endpoint(problem);
    if (problem)
      continue;
    socket.set_option(tcp::no_delay{true}, problem);
    const auto status = admit(peer.address());
    if (status == 0) {
      spawn_session(*this, std::move(socket), peer.address());
      continue;
    }
    const auto answer = refuse(peer.address(), status);
    socket.non_blocking(true, problem);
    socket.write_some(net::buffer(answer), problem);
  }
}

std::string server_core::refuse(const net::ip::address& from, unsigned status) {
  trace_refused(*this, status);
  refused_ = {from, status, refused_.count + 1};
  if (const auto now = clock::now(); now >= next_refusal_log_) {
    next_refusal_log_ = now + refusal_log_pause;
    log_refused(*this, std::exchange(refused_, {}));
  }
  if (!options_.certificate.empty())
    return {};
  const auto answer = error_response(
    {status == 429 ? errc::resource_exhausted : errc::unavailable,
     "there are too many connections"});
  return answer.head(11, true, body_end::length) + answer.body;
}

} // namespace tertulia::web
