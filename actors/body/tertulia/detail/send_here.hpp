// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <caf/abstract_actor.hpp>
#include <caf/actor_cast.hpp>
#include <caf/actor_config.hpp>
#include <caf/actor_system.hpp>
#include <caf/execution_unit.hpp>
#include <caf/response_type.hpp>
#include <caf/spawn_options.hpp>

#include <type_traits>
#include <utility>

namespace tertulia::detail {

/// Returns the execution unit that the calling thread has besides its other
/// work, such as that of a server; null on CAF's threads and on all others.
[[nodiscard]] caf::execution_unit* execution_here() noexcept;

/// Sets the execution unit of the calling thread.
void set_execution_here(caf::execution_unit* x) noexcept;

/// Sends a message without a sender, as `caf::anon_send`. If the calling thread
/// has an execution unit, an idle receiver runs on it.
///
/// The unit of the sending actor would not do: outside of its handlers, such as
/// in its destructor, that may be gone.
template <class Handle, class... Ts>
void send_here(const Handle& to, Ts&&... xs) {
  using message
    = caf::detail::type_list<caf::detail::strip_and_convert_t<Ts>...>;
  static_assert(
    caf::response_type_unbox<caf::signatures_of_t<Handle>, message>::valid,
    "the receiver does not accept this message");
  if (auto* receiver = caf::actor_cast<caf::abstract_actor*>(to))
    receiver->eq_impl(caf::make_message_id(), nullptr, execution_here(),
                      std::forward<Ts>(xs)...);
}

/// Spawns a hidden actor, on the calling thread if that has an execution unit.
template <class F, class... Ts>
auto spawn_here(caf::actor_system& system, F fun, Ts&&... xs) {
  caf::actor_config config{execution_here()};
  return system.spawn_functor<caf::hidden>(std::true_type{}, config, fun,
                                           std::forward<Ts>(xs)...);
}

} // namespace tertulia::detail
