// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <memory>
#include <thread>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>

namespace tertulia::openai {

/// Thread for the network work of all models of this process.
///
/// @threads  all members.
/// @lifetime its destructor waits for the thread unless it runs on it.
class io_thread {
public:
  /// Returns the running thread, or starts one.
  static std::shared_ptr<io_thread> shared();

  io_thread();
  io_thread(const io_thread&) = delete;
  io_thread& operator=(const io_thread&) = delete;
  ~io_thread();

  [[nodiscard]] boost::asio::io_context::executor_type executor() const {
    return context_->get_executor();
  }

  /// Returns the context without keeping it alive.
  [[nodiscard]] std::weak_ptr<boost::asio::io_context> context() const {
    return context_;
  }

private:
  using guard
    = boost::asio::executor_work_guard<boost::asio::io_context::executor_type>;

  // Shared with the thread, because remaining work may outlive this object.
  std::shared_ptr<boost::asio::io_context> context_;
  guard work_;
  std::thread thread_;
};

} // namespace tertulia::openai
