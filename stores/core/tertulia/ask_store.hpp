// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/detail/blocking_caller.hpp>
#include <tertulia/status.hpp>
#include <tertulia/store.hpp>
#include <tertulia/store_handlers.hpp>

#include <caf/actor_system.hpp>
#include <caf/response_type.hpp>
#include <caf/scoped_actor.hpp>
#include <caf/timespan.hpp>

#include <chrono>
#include <utility>

// Requests to a store from a thread.

namespace tertulia {

/// Sends a request to a store and waits for its answer.
///
/// ```
/// auto page = tertulia::ask_store(system, store, list_sessions_request{});
/// ```
///
/// @param store  a `snapshot_store`, or a `managed_store` for the requests of
///               tools.
/// @param within longest wait. A store on another node that is lost does not
///               answer.
/// @errors  those of the request, see <tertulia/protocol.hpp>; `unavailable` if
///          the store has ended; `deadline_exceeded`; `failed_precondition` on
///          a thread of the scheduler.
/// @threads any that may block.
/// @design  docs/stores.md#the-verbs.
template <class Store, class Verb>
store_reply_t<Verb> ask_store(caf::actor_system& system, const Store& store,
                              Verb question,
                              caf::timespan within = std::chrono::seconds{30}) {
  static_assert(caf::response_type<typename Store::signatures, Verb>::valid,
                "this store does not take this request: a snapshot_store takes "
                "those of sessions, a managed_store those of tools as well");
  detail::check_may_block(system);
  store_reply_t<Verb> result;
  caf::error failure;
  caf::scoped_actor self{system};
  self->request(store, within, std::move(question))
    .receive([&](store_reply_t<Verb>& x) { result = std::move(x); },
             [&](caf::error& x) { failure = std::move(x); });
  if (failure)
    raise(failure);
  return result;
}

/// Reads a session: what the store keeps of it, its last record, and the state
/// that it works on.
/// @errors `not_found`; `data_loss`; otherwise as `ask_store`.
/// @threads any that may block.
template <class Store>
[[nodiscard]] stored_session
get_session(caf::actor_system& system, const Store& store, session_ref session,
            caf::timespan within = std::chrono::seconds{30}) {
  return ask_store(system, store, get_session_request{std::move(session)},
                   within);
}

} // namespace tertulia
