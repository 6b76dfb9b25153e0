// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <condition_variable>
#include <mutex>

#include "support/threaded.hpp"

namespace tertulia::test {

/// Blocks threads until it is opened, or until the end of its test.
class valve {
public:
  ~valve() {
    open();
  }

  void open() {
    const std::lock_guard guard{mutex_};
    is_open_ = true;
    changed_.notify_all();
  }

  void wait() {
    std::unique_lock guard{mutex_};
    changed_.wait_for(guard, patience, [this] { return is_open_; });
  }

private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_open_ = false;
};

} // namespace tertulia::test
