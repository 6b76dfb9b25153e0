// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/detail/affinity.hpp>

#include <caf/detail/sync_request_bouncer.hpp>
#include <caf/error.hpp>
#include <caf/fwd.hpp>
#include <caf/monitorable_actor.hpp>
#include <caf/stateful_actor.hpp>

#include <utility>

namespace tertulia::detail {

/// Actor that leaves CAF's clock alone when it ends. Like all actors of
/// conversations it also has an affinity to a thread.
///
/// CAF 0.17 tells its clock about the end of every actor, to cancel time-outs
/// that the actor may have set, and so wakes the thread of the clock. That is a
/// fifth of the cost of a short conversation, whose three actors have the timer
/// of the runtime instead. Before its end the actor cancels a time-out that it
/// has set nevertheless; otherwise that keeps its memory until it is due.
///
/// @tparam Base an actor class without streams and without a thread of its own.
/// @threads as `Base`.
template <class Base>
class without_clock final : public Base, public actor_with_affinity {
public:
  using Base::Base;

  void enqueue(caf::mailbox_element_ptr x, caf::execution_unit* by) override {
    Base::enqueue(std::move(x), unit_for(by));
  }

  /// Ends the actor, as `caf::scheduled_actor::cleanup` and
  /// `caf::local_actor::cleanup` do, except for the clock.
  bool cleanup(caf::error&& reason, caf::execution_unit* host) override {
    this->awaited_responses_.clear();
    this->multiplexed_responses_.clear();
    if (!this->mailbox_.closed()) {
      this->mailbox_.close();
      this->get_normal_queue().flush_cache();
      this->get_urgent_queue().flush_cache();
      caf::detail::sync_request_bouncer bounce{reason};
      while (this->mailbox_.queue().new_round(1000, bounce).consumed_items
             > 0) {
      }
    }
    this->unregister_from_system();
    // It passes over the function that tells the clock, on purpose.
    // NOLINTNEXTLINE(bugprone-parent-virtual-call)
    return caf::monitorable_actor::cleanup(std::move(reason), host);
  }
};

/// The actor class with a state behind a handle type.
template <class Handle, class State>
using stateful_without_clock
  = without_clock<caf::stateful_actor<State, typename Handle::base>>;

} // namespace tertulia::detail
