// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <utility>
#include <vector>

namespace tertulia::http {

class timer;

/// File descriptor that is closed by its destructor.
///
/// @threads one at a time.
class file_descriptor {
public:
  /// @errors throws `std::system_error` if the descriptor is negative, for the
  ///         value of `errno`.
  explicit file_descriptor(int fd);
  file_descriptor(const file_descriptor&) = delete;
  file_descriptor& operator=(const file_descriptor&) = delete;
  ~file_descriptor();

  [[nodiscard]] int get() const noexcept {
    return fd_;
  }

private:
  int fd_;
};

/// Receiver of the readiness of a descriptor.
class watcher {
public:
  virtual void on_ready() = 0;

protected:
  ~watcher() = default;
};

/// Event loop of the I/O thread.
///
/// @threads only on the I/O thread, except for `post` and `stop`.
class io_loop {
public:
  using clock = std::chrono::steady_clock;

  io_loop();

  /// Runs a function on the I/O thread; from any thread. Functions that are
  /// posted before `stop` are run.
  void post(std::function<void()> work);

  void stop();

  /// Watches a descriptor for input until it is closed.
  void watch(int fd, watcher& by);

  void run();

private:
  friend class timer;

  [[nodiscard]] int timeout() const;
  void run_timers();
  bool run_posted();

  file_descriptor epoll_;
  file_descriptor wake_up_;
  std::set<std::pair<clock::time_point, timer*>> timers_;
  std::mutex mutex_; // guards the members below
  std::vector<std::function<void()>> posted_;
  bool stopped_ = false;
};

/// Timer of the I/O thread.
///
/// @threads only on the I/O thread while it runs; otherwise one at a time.
class timer {
public:
  timer(io_loop& loop, std::function<void()> work)
    : loop_(loop), work_(std::move(work)) {}

  timer(const timer&) = delete;
  timer& operator=(const timer&) = delete;

  ~timer() {
    stop();
  }

  /// Runs the function once, at that time. Replaces an earlier call.
  void start(io_loop::clock::time_point due);

  void stop();

private:
  friend class io_loop;

  io_loop& loop_;
  std::function<void()> work_;
  io_loop::clock::time_point due_;
  bool runs_ = false;
};

/// Thread for the network work of all clients of this process.
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

  [[nodiscard]] io_loop& loop() const noexcept {
    return *loop_;
  }

private:
  // Shared with the thread, because remaining work may outlive this object.
  std::shared_ptr<io_loop> loop_;
  std::thread thread_;
};

} // namespace tertulia::http
