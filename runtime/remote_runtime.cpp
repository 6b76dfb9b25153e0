// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/detail/timer.hpp>
#include <tertulia/remote_runtime.hpp>

#include <caf/io/middleman.hpp>
#include <caf/scoped_actor.hpp>

#include <algorithm>
#include <set>

namespace tertulia {

namespace {

/// Asks for a node's published actor. CAF's `remote_actor` does the same, but
/// waits for a frozen host for ever.
front_desk_actor find_desk(caf::actor_system& system, const std::string& host,
                           std::uint16_t port, caf::timespan within) {
  if (!system.has_middleman())
    throw status_error{errc::failed_precondition,
                       "the actor system has no network module"};
  const auto where = host + ':' + std::to_string(port);
  front_desk_actor result;
  caf::error failure;
  caf::scoped_actor self{system};
  self
    ->request(system.middleman().actor_handle(), detail::for_request(within),
              caf::connect_atom_v, host, port)
    .receive(
      [&](const caf::node_id&, const caf::strong_actor_ptr& found,
          const std::set<std::string>& speaks) {
        const auto ours = system.message_types<front_desk_actor>();
        if (found
            && std::includes(speaks.begin(), speaks.end(), ours.begin(),
                             ours.end()))
          result = caf::actor_cast<front_desk_actor>(found);
        else
          failure = fail(errc::unavailable, "there is no runtime at " + where);
      },
      [&](const caf::error& reason) {
        failure = code_of(reason) == errc::deadline_exceeded
                    ? fail(errc::deadline_exceeded, "no answer from " + where)
                    : fail(errc::unavailable, "cannot connect to " + where
                                                + ": " + system.render(reason));
      });
  if (failure)
    raise(failure);
  return result;
}

} // namespace

remote_runtime::remote_runtime(caf::actor_system& system,
                               const std::string& host, std::uint16_t port,
                               caf::timespan within)
  : system_(system), within_(within),
    desk_(find_desk(system, host, port, within)) {}

std::vector<descriptor> remote_runtime::actions() const {
  std::vector<descriptor> result;
  caf::error failure;
  caf::scoped_actor self{system_};
  self->request(desk_, detail::for_request(within_), list_atom_v)
    .receive([&](action_list& x) { result = std::move(x.actions); },
             [&](caf::error& reason) { failure = std::move(reason); });
  if (failure)
    raise(failure);
  return result;
}

detail::action_ref remote_runtime::find(const std::string& key) const {
  auto all = actions();
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const auto& x) { return x.key == key; });
  if (found == all.end())
    throw status_error{errc::not_found, "there is no action " + key};
  return detail::action_ref{&system_, desk_, key, std::move(*found), nullptr};
}

} // namespace tertulia
