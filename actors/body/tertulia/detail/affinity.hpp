// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <caf/abstract_actor.hpp>
#include <caf/actor_cast.hpp>
#include <caf/actor_control_block.hpp>
#include <caf/execution_unit.hpp>

#include <memory>
#include <utility>

namespace tertulia::detail {

/// Execution unit of a thread that the actors of a conversation prefer, such as
/// that of a server which has the connection of their client. Without it they
/// run wherever they are woken, which is often the thread that runs a store for
/// all conversations, and each thread would need the memory of all of them.
///
/// @threads all members.
/// @lifetime actors may share it longer than its thread lives.
class thread_affinity : public caf::execution_unit {
public:
  using caf::execution_unit::execution_unit;

  /// Returns the unit on which an actor runs that is woken by code on `by`.
  [[nodiscard]] virtual caf::execution_unit*
  choose(caf::execution_unit* by) noexcept = 0;
};

using affinity_ptr = std::shared_ptr<thread_affinity>;

/// Returns the affinity of the actors that the calling thread spawns; null on
/// most threads.
[[nodiscard]] const affinity_ptr& affinity_here() noexcept;

/// Changes the affinity of the actors that the calling thread spawns.
class affinity_scope {
public:
  explicit affinity_scope(affinity_ptr x) noexcept;

  affinity_scope(const affinity_scope&) = delete;
  affinity_scope& operator=(const affinity_scope&) = delete;

  ~affinity_scope();

private:
  affinity_ptr before_;
};

/// Actor that keeps to a thread: that which spawned it, unless an
/// `affinity_scope` names another one.
class actor_with_affinity {
public:
  actor_with_affinity() = default;
  actor_with_affinity(const actor_with_affinity&) = delete;
  actor_with_affinity& operator=(const actor_with_affinity&) = delete;

  [[nodiscard]] const affinity_ptr& affinity() const noexcept {
    return affinity_;
  }

protected:
  virtual ~actor_with_affinity() = default;

  [[nodiscard]] caf::execution_unit*
  unit_for(caf::execution_unit* by) const noexcept {
    return affinity_ ? affinity_->choose(by) : by;
  }

private:
  const affinity_ptr affinity_ = affinity_here();
};

/// Returns the affinity of an actor; null if it has none, or is on another
/// node. It is null as well on a thread without affinity, so that programs
/// without such threads need not look for it: the actors of a conversation that
/// opens meanwhile run where they are woken.
template <class Handle>
[[nodiscard]] affinity_ptr affinity_of(const Handle& x) {
  if (!x || !affinity_here())
    return nullptr;
  const auto* found = dynamic_cast<const actor_with_affinity*>(
    caf::actor_cast<caf::abstract_actor*>(x));
  return found != nullptr ? found->affinity() : nullptr;
}

} // namespace tertulia::detail
