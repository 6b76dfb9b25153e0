// SPDX-License-Identifier: BSD-3-Clause

#include "io_thread.hpp"

#include <tertulia/detail/send_here.hpp>

#include <caf/actor_system.hpp>
#include <caf/logger.hpp>
#include <caf/resumable.hpp>
#include <caf/scheduler/abstract_coordinator.hpp>

#include <utility>

#include <sys/resource.h>

namespace tertulia::web {

namespace {

/// Number of messages that an actor handles before it is another one's turn.
constexpr std::size_t max_messages = 16;

/// Number of jobs, and of handlers of sockets, before it is the turn of the
/// others.
constexpr std::size_t max_batch = 64;

/// Time after which no further job is begun before bytes are moved.
constexpr auto batch_time = std::chrono::microseconds{500};

/// Time of a job from which on it is too slow for a thread with connections.
constexpr auto slow = std::chrono::microseconds{200};

/// Time of slow jobs in `period` from which on jobs run on CAF's threads: a few
/// of them say nothing.
constexpr auto slow_time = std::chrono::milliseconds{10};
constexpr auto period = std::chrono::milliseconds{100};

/// Time for which jobs run on CAF's threads then.
constexpr auto pass_on_for = std::chrono::milliseconds{100};

/// Time of a job after which the other thread takes over.
constexpr auto patience = std::chrono::milliseconds{5};

/// Number of checks that find no new job, after which the other thread sleeps.
constexpr int idle_checks = 20;

/// Number of the calling thread in its `io_thread`.
thread_local std::size_t seat_here = 0;

std::chrono::microseconds duration_of(const timeval& x) noexcept {
  return std::chrono::seconds{x.tv_sec} + std::chrono::microseconds{x.tv_usec};
}

} // namespace

/// Preference of actors for the thread, which they may outlive.
class io_thread::actor_affinity final : public detail::thread_affinity {
public:
  explicit actor_affinity(io_thread& x)
    : thread_affinity(&x.system()), unit_(&x), thread_(&x) {}

  /// Actors stay on CAF's threads when they are woken there: they may be on
  /// them because the thread has more work than it can do.
  caf::execution_unit* choose(caf::execution_unit* by) noexcept override {
    return by != nullptr && by != unit_ && by == detail::execution_here() ? this
                                                                          : by;
  }

  void exec_later(caf::resumable* job) override {
    {
      const std::lock_guard guard{mutex_};
      if (thread_ != nullptr)
        return thread_->accept(job);
    }
    system().scheduler().enqueue(job);
  }

  /// Separates the actors from the thread, which is about to end.
  void end() {
    const std::lock_guard guard{mutex_};
    thread_ = nullptr;
  }

private:
  const caf::execution_unit* unit_; ///< to compare only
  std::mutex mutex_;
  io_thread* thread_;
};

io_thread::io_thread(caf::actor_system& system, bool is_alone)
  : execution_unit(&system), guard_(io_.get_executor()),
    affinity_(is_alone ? nullptr : std::make_shared<actor_affinity>(*this)) {}

io_thread::~io_thread() {
  join();
}

void io_thread::start() {
  for (seat i = 0; i < threads_.size(); ++i)
    threads_[i] = std::jthread{[this, i] { live(i); }};
}

void io_thread::join() {
  io_.stop();
  {
    const std::lock_guard guard{mutex_};
    is_ended_ = true;
    // A job may wait for one of them, and no thread takes over any longer.
    pass_on_jobs();
    changed_.notify_all();
  }
  for (auto& x : threads_)
    if (x.joinable())
      x.join();
  if (affinity_)
    affinity_->end();
  const std::lock_guard guard{mutex_};
  pass_on_jobs();
}

void io_thread::exec_later(caf::resumable* job) {
  {
    const std::lock_guard guard{mutex_};
    if (detail::execution_here() == this && seat_here == owner_ && runs_jobs())
      return add(job);
  }
  system().scheduler().enqueue(job);
}

void io_thread::accept(caf::resumable* job) {
  auto wakes = false;
  {
    const std::lock_guard guard{mutex_};
    if (runs_jobs()) {
      add(job);
      wakes = std::exchange(is_waiting_, false);
      job = nullptr;
    }
  }
  if (wakes)
    net::post(io_, [] {});
  if (job != nullptr)
    system().scheduler().enqueue(job);
}

bool io_thread::runs_jobs() noexcept {
  if (is_ended_)
    return false;
  if (!passes_on_until_)
    return true;
  if (has_stuck_ || clock::now() < *passes_on_until_)
    return false;
  passes_on_until_.reset();
  return true;
}

void io_thread::live(seat me) {
  system().thread_started();
  detail::set_execution_here(this);
  const detail::affinity_scope affinity{affinity_};
  seat_here = me;
  if (me == 0 || wait_to_take_over(me))
    while (!serve(me) && wait_to_take_over(me)) {
    }
  system().thread_terminates();
}

io_thread::usage io_thread::usage_at(clock::time_point now) noexcept {
  rusage all{};
  ::getrusage(RUSAGE_THREAD, &all);
  return {now, duration_of(all.ru_utime) + duration_of(all.ru_stime),
          all.ru_nivcsw};
}

bool io_thread::serve(seat me) {
  known_usage_ = usage_at(clock::now());
  while (!io_.stopped()) {
    run_handlers();
    if (!run_jobs(me))
      return false;
  }
  return true;
}

void io_thread::run_handlers() {
  if (has_jobs_) {
    for (std::size_t i = 0; i < max_batch && io_.poll_one() > 0; ++i) {
    }
  } else if (!affinity_) {
    io_.run_one(); // only this thread adds jobs
  } else if (io_.poll_one() == 0) {
    wait_for_handler();
  }
}

void io_thread::wait_for_handler() {
  {
    const std::lock_guard guard{mutex_};
    if (has_jobs_)
      return;
    is_waiting_ = true;
  }
  io_.run_one();
  const std::lock_guard guard{mutex_};
  is_waiting_ = false;
}

bool io_thread::run_jobs(seat me) {
  if (!has_jobs_)
    return true;
  const auto begin = clock::now();
  if (begin - known_usage_.at > slow)
    known_usage_ = usage_at(begin);
  auto before = begin;
  std::unique_lock guard{mutex_};
  for (std::size_t i = 0;
       i < max_batch && !jobs_.empty() && before - begin < batch_time; ++i) {
    auto* job = jobs_.front();
    jobs_.pop_front();
    has_jobs_.store(!jobs_.empty(), std::memory_order_relaxed);
    ++begun_;
    is_in_job_ = true;
    if (!is_watched_) {
      is_watched_ = true;
      changed_.notify_all();
    }
    guard.unlock();
    run(job);
    const auto after = clock::now();
    guard.lock();
    if (owner_ != me) {
      has_stuck_ = false;
      passes_on_until_ = after + pass_on_for;
      return false;
    }
    is_in_job_ = false;
    if (after - before > slow && has_been_slow(before, after)) {
      passes_on_until_ = after + pass_on_for;
      pass_on_jobs();
    }
    before = after;
  }
  if (jobs_.size() > max_batch) // more than this thread can do in time
    pass_on_jobs();
  return true;
}

bool io_thread::has_been_slow(clock::time_point begin, clock::time_point end) {
  const auto before = std::exchange(known_usage_, usage_at(end));
  auto time = end - begin;
  // Time in which the processor did something else is not that of the job. What
  // its thread did since `before` were short jobs.
  if (known_usage_.preemptions != before.preemptions)
    time = known_usage_.processor_time - before.processor_time
           - (begin - before.at);
  if (time <= slow)
    return false;
  if (begin - period_begin_ > period) {
    period_begin_ = begin;
    slow_in_period_ = {};
  }
  slow_in_period_ += time;
  return slow_in_period_ > slow_time;
}

void io_thread::run(caf::resumable* job) {
  // CAF's logger locks to learn of each actor that begins to run. Debian's CAF
  // logs nothing, so the thread has none until a job spawns an actor.
  if constexpr (CAF_LOG_LEVEL == CAF_LOG_LEVEL_QUIET)
    caf::logger::set_current_actor_system(nullptr);
  switch (job->resume(this, max_messages)) {
    case caf::resumable::resume_later: exec_later(job); break;
    default: intrusive_ptr_release(job);
  }
}

bool io_thread::wait_to_take_over(seat me) {
  std::unique_lock guard{mutex_};
  auto checks = 0;
  while (!is_ended_) {
    if (checks == idle_checks) {
      is_watched_ = false;
      changed_.wait(guard, [this] { return is_watched_ || is_ended_; });
      checks = 0;
    }
    const auto before = begun_;
    changed_.wait_for(guard, patience, [this] { return is_ended_; });
    if (begun_ != before) {
      checks = 0;
    } else if (!is_in_job_ || has_stuck_) {
      ++checks;
    } else {
      owner_ = me;
      is_in_job_ = false;
      has_stuck_ = true;
      passes_on_until_ = clock::now();
      pass_on_jobs();
      return true;
    }
  }
  return false;
}

void io_thread::add(caf::resumable* job) {
  jobs_.push_back(job);
  has_jobs_.store(true, std::memory_order_relaxed);
}

void io_thread::pass_on_jobs() {
  has_jobs_.store(false, std::memory_order_relaxed);
  for (auto* x : std::exchange(jobs_, {}))
    system().scheduler().enqueue(x);
}

} // namespace tertulia::web
