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

/// A thread that talks to a store: each question waits for its answer, or
/// several are under way at once.
///
/// @errors  throws what the store says; `deadline_exceeded`;
///          `failed_precondition` on a thread of the scheduler.
/// @threads the one that made it.
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

  bool has(const session_ref& which) {
    try {
      ask<stored_session>(get_session{which, detail_level::record});
      return true;
    } catch (const status_error& x) {
      if (x.code() != errc::not_found)
        throw;
      return false;
    }
  }

  /// Asks without waiting; `receive` waits for what this returns.
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
