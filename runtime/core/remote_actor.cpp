// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/config.hpp>
#include <tertulia/detail/blocking_caller.hpp>
#include <tertulia/detail/node_transport.hpp>
#include <tertulia/detail/timer.hpp>
#include <tertulia/remote_actor.hpp>
#include <tertulia/status.hpp>

#include <caf/io/middleman.hpp>
#include <caf/scoped_actor.hpp>

#include <algorithm>
#include <utility>

namespace tertulia::detail {

std::uint16_t publish(caf::actor_system& system,
                      const caf::strong_actor_ptr& what,
                      std::set<std::string> speaks, std::uint16_t port,
                      const std::string& address,
                      const std::shared_ptr<spdlog::logger>& log) {
  if (const auto* encrypted = transport_of(system))
    return encrypted->publish(system, what, std::move(speaks), port, address,
                              log);
  std::uint16_t bound = 0;
  caf::error failure;
  caf::scoped_actor self{system};
  self
    ->request(system.middleman().actor_handle(), caf::infinite,
              caf::publish_atom::value, port, what, std::move(speaks), address,
              true)
    .receive([&](std::uint16_t x) { bound = x; },
             [&](caf::error& x) { failure = std::move(x); });
  if (failure)
    throw status_error{errc::unavailable, "cannot listen on " + address + ':'
                                            + std::to_string(port) + ": "
                                            + system.render(failure)};
  return bound;
}

// CAF's `remote_actor` does this as well, but waits forever for a frozen host.
caf::strong_actor_ptr
find_remote(caf::actor_system& system, const std::string& host,
            std::uint16_t port, std::chrono::steady_clock::time_point until,
            const std::set<std::string>& speaks, const std::string& noun) {
  check_messages_of(system);
  check_may_block(system);
  const auto where = host + ':' + std::to_string(port);
  caf::strong_actor_ptr result;
  caf::error failure;
  caf::scoped_actor self{system};
  const auto wait_for_answer = [&](auto pending) {
    pending.receive(
      [&](const caf::node_id&, const caf::strong_actor_ptr& found,
          const std::set<std::string>& theirs) {
        if (found
            && std::includes(theirs.begin(), theirs.end(), speaks.begin(),
                             speaks.end()))
          result = found;
        else
          failure
            = fail(errc::unavailable, "there is no " + noun + " at " + where);
      },
      [&](const caf::error& reason) {
        failure = code_of(reason) == errc::deadline_exceeded
                    ? fail(errc::deadline_exceeded, "no answer from " + where)
                    : fail(errc::unavailable, "cannot connect to " + where
                                                + ": " + system.render(reason));
      });
  };
  const auto patience = [until] {
    return for_request(
      std::max(until - std::chrono::steady_clock::now(), caf::timespan{1}));
  };
  if (const auto* encrypted = transport_of(system)) {
    auto line = encrypted->connect(system, host, port, until);
    wait_for_answer(self->request(node_broker(system), patience(),
                                  caf::connect_atom::value, std::move(line),
                                  port));
  } else {
    wait_for_answer(self->request(system.middleman().actor_handle(), patience(),
                                  caf::connect_atom::value, host, port));
  }
  if (failure)
    raise(failure);
  return result;
}

std::chrono::steady_clock::time_point limit_of_search(caf::timespan within) {
  return later(std::chrono::steady_clock::now(), within);
}

} // namespace tertulia::detail
