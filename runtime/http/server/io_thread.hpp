// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/detail/affinity.hpp>

#include <caf/execution_unit.hpp>
#include <caf/fwd.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>

namespace tertulia::web {

namespace net = boost::asio;

/// Thread that serves connections: it moves their bytes and runs the actors of
/// their requests, which then need no other thread to be woken. Connections
/// stay on one thread and need no strand, which costs as much as their parsing.
///
/// An actor that computes for long, or waits, must not hold back other
/// connections: a second thread takes over their bytes, and for a while actors
/// run on CAF's threads.
///
/// @threads one at a time, unless a member says otherwise.
class io_thread final : public caf::execution_unit {
public:
  /// @param is_alone whether it is the only one of its server, so that actors
  ///                 need not prefer it to another one.
  io_thread(caf::actor_system& system, bool is_alone);

  io_thread(const io_thread&) = delete;
  io_thread& operator=(const io_thread&) = delete;

  ~io_thread() override;

  [[nodiscard]] net::io_context& context() noexcept {
    return io_;
  }

  /// Starts to serve; once.
  void start();

  /// Ends both threads, and waits for them and for the job that each is in.
  /// Idempotent.
  void join();

  /// Adds a job, which runs here if the calling thread serves.
  /// @threads all.
  void exec_later(caf::resumable* job) override;

private:
  class actor_affinity;

  using clock = std::chrono::steady_clock;

  /// One of the two threads: one serves, the other one waits to take over.
  using seat = std::size_t;

  void live(seat me);

  /// Serves until the end.
  /// @returns false if the other thread has taken over.
  bool serve(seat me);

  /// Moves bytes; waits for some if there is no job.
  void run_handlers();

  /// Runs jobs, but not for so long that bytes wait.
  /// @returns as `serve`
  bool run_jobs(seat me);

  /// Waits until there are bytes or jobs.
  void wait_for_handler();

  void run(caf::resumable* job);

  /// Resources that a thread has used up to one moment.
  struct usage {
    clock::time_point at;
    clock::duration processor_time{0};
    /// How often the system gave the processor to something else.
    long preemptions = 0;
  };

  /// Returns what the calling thread has used.
  [[nodiscard]] static usage usage_at(clock::time_point now) noexcept;

  /// Counts a job that took long, if it was slow: preemption does not count.
  /// @returns whether slow jobs take much of the time.
  bool has_been_slow(clock::time_point begin, clock::time_point end);

  /// Waits until the other thread is in one job for too long.
  /// @returns false at the end.
  bool wait_to_take_over(seat me);

  /// Adds a job.
  /// @pre `mutex_` is held.
  void add(caf::resumable* job);

  /// Passes the waiting jobs on to CAF's threads.
  /// @pre `mutex_` is held.
  void pass_on_jobs();

  /// Adds a job of another thread, which runs here unless jobs are passed on.
  /// @threads all.
  void accept(caf::resumable* job);

  /// Returns whether jobs are run here.
  /// @pre `mutex_` is held.
  [[nodiscard]] bool runs_jobs() noexcept;

  net::io_context io_{1};
  net::executor_work_guard<net::io_context::executor_type> guard_;
  std::shared_ptr<actor_affinity> affinity_; ///< null if it is alone
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<caf::resumable*> jobs_;
  std::atomic<bool> has_jobs_{false}; ///< changes with `jobs_`
  seat owner_ = 0;                    ///< the thread that serves
  std::uint64_t begun_ = 0;           ///< number of jobs that were begun
  bool is_in_job_ = false;  ///< whether the thread that serves runs a job
  bool is_watched_ = false; ///< whether the other thread looks at `begun_`
  bool has_stuck_ = false;  ///< whether the other thread is in a job
  bool is_waiting_ = false; ///< for bytes, so that jobs must wake the thread
  bool is_ended_ = false;
  clock::time_point period_begin_;    ///< of the last slow job
  clock::duration slow_in_period_{0}; ///< time of slow jobs since then
  usage known_usage_;                 ///< some time before the job that runs
  /// Time from which on jobs are run here again.
  std::optional<clock::time_point> passes_on_until_;
  std::array<std::jthread, 2> threads_;
};

} // namespace tertulia::web
