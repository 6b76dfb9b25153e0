// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <type_traits>

namespace tertulia::detail {

/// Blocking work of one body, shared by the thread that runs it and the wait
/// for it.
///
/// @threads all members are thread-safe, except where noted.
class blocking_job {
public:
  virtual ~blocking_job() = default;

  /// Runs the work on a thread of the pool, unless it was abandoned.
  /// @returns false if it was abandoned: its result is not needed.
  bool run();

  /// Asks the work to end early and, if no thread has started it, withdraws it.
  /// @returns whether it was withdrawn and will never run.
  bool abandon();

  /// Asks the work to end early and waits until no thread uses it.
  void join();

protected:
  /// Calls the user's function, stores its result or exception, and destroys
  /// the function.
  virtual void work(std::stop_token stop) noexcept = 0;

  /// Destroys the user's function without a call: its captures may refer to the
  /// frame, and this job stays in the queue until a thread reaches it.
  virtual void drop() noexcept = 0;

private:
  enum class stage { queued, running, done, abandoned };

  std::mutex mutex_;
  std::condition_variable left_running_;
  stage stage_ = stage::queued;
  std::stop_source stop_;
};

/// Threads for work that may block, separate from CAF's scheduler.
///
/// @threads all members are thread-safe.
/// @lifetime its destructor waits until all submitted jobs have run, except
///           those that were abandoned before a thread reached them.
class blocking_pool {
public:
  blocking_pool(std::size_t threads, std::size_t max_queue);

  ~blocking_pool();

  /// Queues the job; `then` is called on the pool's thread after the job has
  /// run.
  /// @returns false if too many jobs are queued already.
  bool submit(std::shared_ptr<blocking_job> job, std::function<void()> then);

private:
  struct threads;

  std::size_t size_;
  std::size_t max_queue_;
  std::atomic<std::size_t> queued_ = 0;
  std::once_flag started_;
  std::unique_ptr<threads> threads_;
};

} // namespace tertulia::detail
