// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/detail/blocking_caller.hpp>
#include <tertulia/status.hpp>

#include <caf/actor_system.hpp>
#include <caf/policy/profiled.hpp>
#include <caf/policy/work_sharing.hpp>
#include <caf/policy/work_stealing.hpp>
#include <caf/scheduler/coordinator.hpp>

#include <thread>

namespace tertulia::detail {

namespace {

template <class Policy>
bool is_worker_of(caf::scheduler::abstract_coordinator& scheduler) {
  auto* known = dynamic_cast<caf::scheduler::coordinator<Policy>*>(&scheduler);
  if (known == nullptr)
    return false;
  for (std::size_t i = 0; i < known->num_workers(); ++i)
    if (known->worker_by_id(i)->get_thread().get_id()
        == std::this_thread::get_id())
      return true;
  return false;
}

/// Returns whether the caller runs on a worker of the scheduler. CAF has no
/// query for this, so the thread ids of all workers are compared.
bool is_worker(caf::actor_system& system) {
  using namespace caf::policy;
  auto& scheduler = system.scheduler();
  return is_worker_of<work_stealing>(scheduler)
         || is_worker_of<work_sharing>(scheduler)
         || is_worker_of<profiled<work_stealing>>(scheduler)
         || is_worker_of<profiled<work_sharing>>(scheduler);
}

} // namespace

void check_may_block(caf::actor_system& system) {
  struct answer {
    const caf::actor_system* about = nullptr;
    bool is_worker = false;
  };
  // A worker thread belongs to one system for its whole life, so a cached
  // answer stays right, even if another system is created at the same address.
  thread_local answer known;
  if (known.about != &system)
    known = {&system, is_worker(system)};
  if (known.is_worker)
    throw status_error{errc::failed_precondition,
                       "a thread of CAF's scheduler must not block: in a body "
                       "use co_await open(ctx), in an actor opening_for or "
                       "caf::detached, for the rest ctx.run_blocking"};
}

} // namespace tertulia::detail
