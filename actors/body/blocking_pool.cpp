// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/detail/blocking_pool.hpp>

#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>

namespace tertulia::detail {

bool blocking_job::run() {
  {
    std::unique_lock guard{mutex_};
    if (stage_ != stage::queued)
      return false;
    stage_ = stage::running;
  }
  work(stop_.get_token());
  std::unique_lock guard{mutex_};
  stage_ = stage::done;
  left_running_.notify_all();
  return true;
}

bool blocking_job::abandon() {
  stop_.request_stop();
  {
    std::unique_lock guard{mutex_};
    if (stage_ != stage::queued)
      return stage_ == stage::abandoned;
    stage_ = stage::abandoned;
  }
  drop();
  return true;
}

void blocking_job::join() {
  if (abandon())
    return;
  std::unique_lock guard{mutex_};
  left_running_.wait(guard, [this] { return stage_ != stage::running; });
}

struct blocking_pool::threads {
  explicit threads(std::size_t size) : pool(size) {}

  boost::asio::thread_pool pool;
};

blocking_pool::blocking_pool(std::size_t threads, std::size_t max_queue)
  : size_(threads), max_queue_(max_queue) {}

blocking_pool::~blocking_pool() {
  if (threads_)
    threads_->pool.join();
}

bool blocking_pool::submit(std::shared_ptr<blocking_job> job,
                           std::function<void()> then) {
  if (queued_.fetch_add(1) >= max_queue_) {
    queued_.fetch_sub(1);
    return false;
  }
  std::call_once(started_,
                 [this] { threads_ = std::make_unique<threads>(size_); });
  boost::asio::post(threads_->pool,
                    [this, job = std::move(job), then = std::move(then)] {
                      queued_.fetch_sub(1);
                      if (job->run())
                        then();
                    });
  return true;
}

} // namespace tertulia::detail
