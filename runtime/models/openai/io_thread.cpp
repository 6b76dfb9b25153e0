// SPDX-License-Identifier: BSD-3-Clause

#include "io_thread.hpp"

#include <mutex>

namespace tertulia::openai {

std::shared_ptr<io_thread> io_thread::shared() {
  static std::mutex mutex;
  static std::weak_ptr<io_thread> running;
  const std::lock_guard guard{mutex};
  auto result = running.lock();
  if (!result) {
    result = std::make_shared<io_thread>();
    running = result;
  }
  return result;
}

io_thread::io_thread()
  : context_(std::make_shared<boost::asio::io_context>(1)),
    work_(context_->get_executor()),
    thread_([context = context_] { context->run(); }) {}

io_thread::~io_thread() {
  work_.reset();
  context_->stop();
  if (thread_.get_id() == std::this_thread::get_id())
    thread_.detach();
  else
    thread_.join();
}

} // namespace tertulia::openai
