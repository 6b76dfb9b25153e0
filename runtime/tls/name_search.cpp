// SPDX-License-Identifier: BSD-3-Clause

#include "name_search.hpp"

#include <algorithm>
#include <system_error>
#include <thread>
#include <utility>

#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace tertulia::network {

namespace asio = boost::asio;
using boost::system::error_code;
using boost::system::system_error;

/// Lookup in progress. Shared by its thread, until the result is delivered, and
/// by its waiters.
struct name_search::search {
  void end(error_code reason, addresses what) {
    ended = true;
    error = reason;
    found = std::move(what);
    for (auto* x : waiting)
      x->cancel();
  }

  bool ended = false;
  error_code error;
  addresses found;
  std::vector<asio::steady_timer*> waiting;
};

namespace {

/// Guard that keeps a timer in a list.
class listed {
public:
  listed(std::vector<asio::steady_timer*>& in, asio::steady_timer& x)
    : in_(in), x_(x) {
    in_.push_back(&x_);
  }

  listed(const listed&) = delete;
  listed& operator=(const listed&) = delete;

  ~listed() {
    in_.erase(std::find(in_.begin(), in_.end(), &x_));
  }

private:
  std::vector<asio::steady_timer*>& in_;
  asio::steady_timer& x_;
};

} // namespace

name_search::addresses name_search::ask_system(const std::string& host,
                                               const std::string& port) {
  asio::io_context own;
  asio::ip::tcp::resolver names{own};
  addresses result;
  for (const auto& x : names.resolve(host, port))
    result.push_back(x.endpoint());
  return result;
}

name_search::name_search(std::weak_ptr<asio::io_context> at, std::string host,
                         std::string port, look_up resolver)
  : context_(std::move(at)), host_(std::move(host)), port_(std::move(port)),
    resolver_(std::move(resolver)) {}

asio::awaitable<name_search::addresses>
name_search::find(clock::time_point deadline) {
  auto now = under_way_.lock();
  if (!now || now->ended)
    now = start();
  asio::steady_timer timer{co_await asio::this_coro::executor, deadline};
  const listed here{now->waiting, timer};
  error_code ignored; // cancelled by the end of the search, or timed out
  co_await timer.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
  if (!now->ended)
    throw system_error{asio::error::timed_out};
  if (now->error)
    throw system_error{now->error};
  co_return now->found;
}

std::shared_ptr<name_search::search> name_search::start() {
  auto result = std::make_shared<search>();
  const auto at = context_.lock();
  if (!at)
    throw system_error{asio::error::operation_aborted};
  auto work = [at, result, host = host_, port = port_, how = resolver_] {
    error_code error;
    addresses found;
    try {
      found = how(host, port);
    } catch (const system_error& x) {
      error = x.code();
    } catch (...) {
      error = asio::error::no_recovery;
    }
    if (!error && found.empty())
      error = asio::error::host_not_found;
    asio::post(*at, [result, error, found = std::move(found)]() mutable {
      result->end(error, std::move(found));
    });
  };
  try {
    std::thread{std::move(work)}.detach();
  } catch (const std::system_error&) { // too many threads
    throw system_error{asio::error::no_recovery};
  }
  under_way_ = result;
  return result;
}

} // namespace tertulia::network
