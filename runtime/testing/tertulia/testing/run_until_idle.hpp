// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <caf/scheduler/test_coordinator.hpp>
#include <caf/timespan.hpp>

namespace tertulia::testing {

/// Runs all actors of CAF's test scheduler until they are idle, and nothing is
/// due at the time of its clock.
inline void run_until_idle(caf::scheduler::test_coordinator& scheduler) {
  do
    scheduler.run();
  while (scheduler.advance_time(caf::timespan{0}) > 0);
}

} // namespace tertulia::testing
