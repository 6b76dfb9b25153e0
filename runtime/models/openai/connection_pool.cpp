// SPDX-License-Identifier: BSD-3-Clause

#include "connection_pool.hpp"

#include <deque>
#include <utility>

#include <boost/asio/steady_timer.hpp>

namespace tertulia::openai {

/// Idle connections. The timer runs while there are any.
struct connection_pool::shelf : std::enable_shared_from_this<shelf> {
  using clock = std::chrono::steady_clock;

  shelf(const boost::asio::any_io_executor& at, std::size_t max_size,
        caf::timespan freshness)
    : max_size(max_size), freshness(freshness), timer(at) {}

  void drop_stale() {
    const auto limit = clock::now() - freshness;
    while (!lines.empty() && lines.front()->idle_since <= limit)
      lines.pop_front();
  }

  void watch() {
    is_watched = !lines.empty();
    if (!is_watched)
      return;
    timer.expires_at(lines.front()->idle_since + freshness);
    // A weak pointer, so that the timer does not keep an unused model alive.
    timer.async_wait([weak = weak_from_this()](const auto& error) {
      if (const auto self = weak.lock(); self && !error) {
        self->drop_stale();
        self->watch();
      }
    });
  }

  std::size_t max_size;
  clock::duration freshness;
  std::deque<std::unique_ptr<connection>> lines; // oldest first
  bool is_watched = false;
  boost::asio::steady_timer timer;
};

connection_pool::connection_pool(const boost::asio::any_io_executor& at,
                                 std::size_t max_size, caf::timespan freshness)
  : idle_(std::make_shared<shelf>(at, max_size, freshness)) {}

std::unique_ptr<connection> connection_pool::take() {
  idle_->drop_stale(); // the timer may be late
  auto& lines = idle_->lines;
  if (lines.empty())
    return nullptr;
  auto result = std::move(lines.back());
  lines.pop_back();
  return result;
}

void connection_pool::give(std::unique_ptr<connection> x) {
  if (idle_->lines.size() >= idle_->max_size)
    return;
  x->idle_since = shelf::clock::now();
  idle_->lines.push_back(std::move(x));
  if (!idle_->is_watched)
    idle_->watch();
}

} // namespace tertulia::openai
