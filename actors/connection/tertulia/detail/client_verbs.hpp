// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/detail/client_end.hpp>
#include <tertulia/detail/send_here.hpp>
#include <tertulia/protocol.hpp>

#include <caf/actor_cast.hpp>

namespace tertulia::detail {

constexpr run_verb verb_of(caf::close_atom) noexcept {
  return run_verb::close;
}

constexpr run_verb verb_of(cancel_atom) noexcept {
  return run_verb::cancel;
}

/// Sends a verb of a client to its connection: to a kept run, which may have
/// another client by now, with the number of the reader.
template <class Atom>
void tell(const connection_actor& to, const client_end& from, Atom what) {
  if (from.run())
    send_here(caf::actor_cast<run_actor>(to),
              run_request{verb_of(what), from.reader()});
  else
    send_here(to, what);
}

/// Leaves a connection for good: a kept run goes on, another one is cancelled.
inline void leave(const connection_actor& to, client_end& from) {
  if (!from.run()) {
    if (from.cancel())
      tell(to, from, cancel_atom_v);
  } else if (from.leave()) {
    send_here(caf::actor_cast<run_actor>(to),
              run_request{run_verb::leave, from.reader()});
  }
}

/// Tells a kept run that its client knows of it: from now on it goes on without
/// that client.
inline void greet(const connection_actor& to, const client_end& from) {
  if (from.run())
    send_here(caf::actor_cast<run_actor>(to),
              run_request{run_verb::inspect, from.reader()});
}

/// Tells a kept run that its client has received the end: the run does not need
/// to wait for it.
inline void confirm(const connection_actor& to, const client_end& from) {
  if (from.run())
    send_here(caf::actor_cast<run_actor>(to),
              run_request{run_verb::confirm, from.reader()});
}

} // namespace tertulia::detail
