// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <future>
#include <memory>
#include <thread>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>

namespace tertulia::network {

/// The thread that encrypts and decrypts what nodes send each other.
///
/// Held by CAF's ends of the connections, so that it runs for as long as there
/// are any, and never by its own work.
///
/// @threads  all members.
/// @lifetime its destructor waits until what the connections hold is written,
///           at most one second; it must not run on this thread.
class tls_thread {
public:
  /// Returns the one that runs, or starts it.
  static std::shared_ptr<tls_thread> shared();

  tls_thread();
  tls_thread(const tls_thread&) = delete;
  tls_thread& operator=(const tls_thread&) = delete;
  ~tls_thread();

  [[nodiscard]] boost::asio::io_context& context() noexcept {
    return *context_;
  }

  /// For searches of names, which are left behind.
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
