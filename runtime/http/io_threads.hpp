// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <cstddef>
#include <memory>
#include <thread>
#include <vector>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>

namespace tertulia::web {

namespace net = boost::asio;

/// Threads that move bytes. Each has a context of its own, so that a connection
/// stays on one thread and needs no strand, which costs as much as its parsing.
///
/// @threads one at a time, unless a member says otherwise.
class io_threads {
public:
  explicit io_threads(std::size_t count) {
    contexts_.reserve(count);
    for (std::size_t i = 0; i < count; ++i)
      contexts_.push_back(std::make_unique<net::io_context>(1));
  }

  io_threads(const io_threads&) = delete;
  io_threads& operator=(const io_threads&) = delete;

  ~io_threads() {
    join();
  }

  /// Returns the context that accepts connections.
  [[nodiscard]] net::io_context& first() noexcept {
    return *contexts_.front();
  }

  /// Returns the contexts in turn.
  /// @threads that of the first context.
  [[nodiscard]] net::io_context& next() noexcept {
    next_ = (next_ + 1) % contexts_.size();
    return *contexts_[next_];
  }

  /// Starts the threads; once.
  void start() {
    for (const auto& x : contexts_) {
      guards_.emplace_back(x->get_executor());
      threads_.emplace_back([&io = *x] { io.run(); });
    }
  }

  /// Ends the threads at once, and waits for them. Idempotent.
  void join() {
    for (const auto& x : contexts_)
      x->stop();
    threads_.clear();
  }

private:
  std::vector<std::unique_ptr<net::io_context>> contexts_;
  std::vector<net::executor_work_guard<net::io_context::executor_type>> guards_;
  std::vector<std::jthread> threads_;
  std::size_t next_ = 0;
};

} // namespace tertulia::web
