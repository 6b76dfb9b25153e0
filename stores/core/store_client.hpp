// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/detail/blocking_caller.hpp>
#include <tertulia/errc.hpp>
#include <tertulia/protocol.hpp>
#include <tertulia/status.hpp>
#include <tertulia/store.hpp>

#include <caf/actor_system.hpp>
#include <caf/scoped_actor.hpp>
#include <caf/timespan.hpp>

#include <utility>

namespace tertulia {

/// Blocking client of a store. A request either waits for its answer, or
/// several requests are in flight at once.
///
/// @errors  throws the errors of the store; `deadline_exceeded`;
///          `failed_precondition` on a thread of the scheduler.
/// @threads only the thread that created it.
template <class Store>
class store_client {
public:
  store_client(caf::actor_system& system, const Store& store,
               caf::timespan within)
    : self_(system), store_(store), within_(within) {
    detail::check_may_block(system);
  }

  template <class Answer, class Verb>
  Answer ask(const Verb& x) {
    return receive<Answer>(send(x));
  }

  bool has(const session_ref& session) {
    try {
      ask<stored_session>(get_session_request{session, detail_level::record});
      return true;
    } catch (const status_error& x) {
      if (x.code() != errc::not_found)
        throw;
      return false;
    }
  }

  /// Sends a request without waiting. `receive` waits for its answer.
  template <class Verb>
  auto send(const Verb& x) {
    return self_->request(store_, within_, x);
  }

  template <class Answer, class Handle>
  Answer receive(Handle&& from) {
    Answer result;
    caf::error reason;
    from.receive([&](Answer& x) { result = std::move(x); },
                 [&](caf::error& x) { reason = std::move(x); });
    if (reason)
      raise(reason);
    return result;
  }

private:
  caf::scoped_actor self_;
  Store store_;
  caf::timespan within_;
};

} // namespace tertulia
