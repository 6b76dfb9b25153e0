// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <future>
#include <memory>
#include <thread>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>

namespace tertulia::network {

/// Thread that encrypts and decrypts the traffic between nodes.
///
/// Owned by CAF's ends of the connections, never by its own work, so that it
/// runs as long as a connection exists.
///
/// @threads  all members.
/// @lifetime its destructor waits at most one second until the data in the
///           connections is written; it must not run on this thread.
class tls_thread {
public:
  /// Returns the running thread, or starts one.
  static std::shared_ptr<tls_thread> shared();

  tls_thread();
  tls_thread(const tls_thread&) = delete;
  tls_thread& operator=(const tls_thread&) = delete;
  ~tls_thread();

  [[nodiscard]] boost::asio::io_context& context() noexcept {
    return *context_;
  }

  /// Returns the context for name searches, which may outlive the thread.
  [[nodiscard]] std::weak_ptr<boost::asio::io_context> weak_context() const {
    return context_;
  }

private:
  using guard
    = boost::asio::executor_work_guard<boost::asio::io_context::executor_type>;

  std::shared_ptr<boost::asio::io_context> context_;
  guard work_;
  std::promise<void> ended_;
  std::thread thread_;
};

} // namespace tertulia::network
