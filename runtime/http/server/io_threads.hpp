// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "io_thread.hpp"

namespace tertulia::web {

/// Threads that serve connections.
///
/// @threads one at a time, unless a member says otherwise.
class io_threads {
public:
  io_threads(caf::actor_system& system, std::size_t count) {
    threads_.reserve(count);
    for (std::size_t i = 0; i < count; ++i)
      threads_.push_back(std::make_unique<io_thread>(system, count == 1));
  }

  /// Returns the context that accepts connections.
  [[nodiscard]] net::io_context& first() noexcept {
    return threads_.front()->context();
  }

  /// Returns the contexts in turn.
  /// @threads that of the first context.
  [[nodiscard]] net::io_context& next() noexcept {
    next_ = (next_ + 1) % threads_.size();
    return threads_[next_]->context();
  }

  /// Starts the threads; once.
  void start() {
    for (const auto& x : threads_)
      x->start();
  }

  /// Ends the threads, as `io_thread::join`. Idempotent.
  void join() {
    for (const auto& x : threads_)
      x->join();
  }

private:
  std::vector<std::unique_ptr<io_thread>> threads_;
  std::size_t next_ = 0;
};

} // namespace tertulia::web
