// SPDX-License-Identifier: BSD-3-Clause

#include "system_check.hpp"

#include <tertulia/status.hpp>

#include <chrono>
#include <cstddef>
#include <ctime>
#include <exception>
#include <future>
#include <memory>
#include <new>
#include <thread>
#include <vector>

#include "tool_failure.hpp"
#include <fmt/format.h>

namespace tertulia::tool {

namespace {

using namespace std::chrono_literals;

void expect_clocks() {
  // All times are 64-bit numbers of nanoseconds. Leaves a year for waits.
  constexpr auto last
    = std::chrono::floor<std::chrono::seconds>(std::chrono::nanoseconds::max())
      - 366 * 24h;
  for (const auto clock : {CLOCK_REALTIME, CLOCK_MONOTONIC}) {
    timespec now{};
    if (::clock_gettime(clock, &now) != 0
        || (now.tv_sec >= 0 && now.tv_sec < last.count()))
      continue;
    throw failure{status_error{errc::failed_precondition,
                               "the clock of this machine is beyond April "
                               "2261, the last time that can be represented"},
                  "Set the clock."};
  }
}

/// Number of threads that CAF starts for a command with a store: a worker, its
/// clock, its printer and the store.
constexpr std::size_t most_threads = 4;

void expect_threads() {
  // Memory that a command needs besides its threads.
  constexpr std::size_t room = std::size_t{32} << 20u; // 32 MiB
  std::promise<void> enough;
  const auto end = enough.get_future().share();
  std::vector<std::jthread> all;
  try {
    const auto spare = std::make_unique_for_overwrite<std::byte[]>(room);
    all.reserve(most_threads);
    while (all.size() < most_threads)
      all.emplace_back([end] {
        // Each thread claims the memory that its heap will need and keep.
        const auto* volatile first = new (std::nothrow) std::byte;
        delete first;
        end.wait();
      });
  } catch (const std::exception& x) {
    enough.set_value();
    throw failure{status_error{
      errc::resource_exhausted,
      fmt::format("the threads that this needs cannot be started: {}",
                  x.what())}};
  }
  enough.set_value();
}

} // namespace

void expect_usable_system() {
  expect_clocks();
  expect_threads();
}

} // namespace tertulia::tool
