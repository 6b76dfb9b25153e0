// SPDX-License-Identifier: BSD-3-Clause

#include "stage.hpp"

#include <stdexcept>
#include <utility>

namespace tertulia::bench {

void finish_line::start(std::size_t runners) {
  const std::lock_guard guard{mutex_};
  running_ = runners;
  begin_ = clock::now();
}

void finish_line::arrive() {
  const std::lock_guard guard{mutex_};
  if (running_ == 0 || --running_ > 0)
    return;
  end_ = clock::now();
  changed_.notify_one();
}

void finish_line::fail(std::string reason) {
  const std::lock_guard guard{mutex_};
  if (failure_.empty())
    failure_ = std::move(reason);
  changed_.notify_one();
}

double finish_line::wait() {
  std::unique_lock guard{mutex_};
  const auto done = changed_.wait_for(guard, std::chrono::minutes{1}, [this] {
    return running_ == 0 || !failure_.empty();
  });
  if (!failure_.empty())
    throw std::runtime_error{failure_};
  if (!done)
    throw std::runtime_error{"an actor did not finish within a minute"};
  return std::chrono::duration<double, std::micro>{end_ - begin_}.count();
}

} // namespace tertulia::bench
