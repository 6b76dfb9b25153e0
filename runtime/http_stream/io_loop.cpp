// SPDX-License-Identifier: BSD-3-Clause

#include "io_loop.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <system_error>

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

namespace tertulia::http {

file_descriptor::file_descriptor(int fd) : fd_(fd) {
  if (fd < 0)
    throw std::system_error{errno, std::generic_category()};
}

file_descriptor::~file_descriptor() {
  ::close(fd_);
}

// -- io_loop ------------------------------------------------------------------

io_loop::io_loop()
  : epoll_(::epoll_create1(EPOLL_CLOEXEC)),
    wake_up_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  epoll_event event{};
  event.events = EPOLLIN; // without a watcher
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, wake_up_.get(), &event);
}

void io_loop::post(std::function<void()> work) {
  const std::lock_guard guard{mutex_};
  posted_.push_back(std::move(work));
  if (posted_.size() == 1)
    ::eventfd_write(wake_up_.get(), 1);
}

void io_loop::stop() {
  const std::lock_guard guard{mutex_};
  stopped_ = true;
  ::eventfd_write(wake_up_.get(), 1);
}

void io_loop::watch(int fd, watcher& by) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.ptr = &by;
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) != 0)
    throw std::system_error{errno, std::generic_category()};
}

void io_loop::run() {
  std::array<epoll_event, 16> events;
  do {
    const auto count = ::epoll_wait(epoll_.get(), events.data(),
                                    static_cast<int>(events.size()), timeout());
    for (int i = 0; i < count; ++i)
      if (auto* by = static_cast<watcher*>(events[i].data.ptr))
        by->on_ready();
    run_timers();
    // Last, because only posted work destroys a watcher.
  } while (run_posted());
}

int io_loop::timeout() const {
  using std::chrono::milliseconds;
  if (timers_.empty())
    return -1;
  const auto left
    = std::chrono::ceil<milliseconds>(timers_.begin()->first - clock::now());
  return static_cast<int>(
    std::clamp<milliseconds::rep>(left.count(), 0, INT_MAX));
}

void io_loop::run_timers() {
  const auto now = clock::now();
  while (!timers_.empty() && timers_.begin()->first <= now) {
    auto& due = *timers_.begin()->second;
    due.stop();
    const auto work = due.work_; // it may destroy the timer
    work();
  }
}

bool io_loop::run_posted() {
  std::uint64_t ignored = 0;
  ::eventfd_read(wake_up_.get(), &ignored);
  for (;;) {
    std::vector<std::function<void()>> posted;
    {
      const std::lock_guard guard{mutex_};
      if (posted_.empty())
        return !stopped_;
      posted.swap(posted_);
    }
    for (auto& work : posted)
      std::exchange(work, nullptr)();
  }
}

// -- timer --------------------------------------------------------------------

void timer::start(io_loop::clock::time_point due) {
  stop();
  due_ = due;
  runs_ = true;
  loop_.timers_.emplace(due_, this);
}

void timer::stop() {
  if (std::exchange(runs_, false))
    loop_.timers_.erase({due_, this});
}

// -- io_thread ----------------------------------------------------------------

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
  : loop_(std::make_shared<io_loop>()),
    thread_([loop = loop_] { loop->run(); }) {}

io_thread::~io_thread() {
  loop_->stop();
  if (thread_.get_id() == std::this_thread::get_id())
    thread_.detach();
  else
    thread_.join();
}

} // namespace tertulia::http
