// SPDX-License-Identifier: BSD-3-Clause

#include "tls_thread.hpp"

#include <chrono>
#include <mutex>

namespace tertulia::network {

std::shared_ptr<tls_thread> tls_thread::shared() {
  static std::mutex mutex;
  static std::weak_ptr<tls_thread> running;
  const std::lock_guard guard{mutex};
  auto result = running.lock();
  if (!result) {
    result = std::make_shared<tls_thread>();
    running = result;
  }
  return result;
}

tls_thread::tls_thread()
  : context_(std::make_shared<boost::asio::io_context>(1)),
    work_(context_->get_executor()), thread_([this] {
      context_->run();
      ended_.set_value();
    }) {}

tls_thread::~tls_thread() {
  work_.reset();
  // A peer that does not read must not hold up the end of the process.
  if (ended_.get_future().wait_for(std::chrono::seconds{1})
      != std::future_status::ready)
    context_->stop();
  thread_.join();
}

} // namespace tertulia::network
