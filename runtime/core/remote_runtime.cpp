// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/descriptor.hpp>
#include <tertulia/detail/blocking_caller.hpp>
#include <tertulia/detail/registry.hpp>
#include <tertulia/detail/timer.hpp>
#include <tertulia/remote_runtime.hpp>

#include <caf/actor_cast.hpp>
#include <caf/scoped_actor.hpp>

#include <algorithm>

namespace tertulia {

remote_runtime::remote_runtime(caf::actor_system& system,
                               const std::string& host, std::uint16_t port,
                               caf::timespan within)
  : remote_runtime(system, std::vector{endpoint{host, port}}, {}, within) {}

remote_runtime::remote_runtime(caf::actor_system& system,
                               std::vector<endpoint> endpoints,
                               reconnect_policy policy, caf::timespan within)
  : system_(system), within_(within),
    desk_(std::make_shared<detail::remote_desk>(system, std::move(endpoints),
                                                policy, within)) {}

namespace {

template <class Answer, class... Question>
Answer ask_desk(caf::actor_system& system, const front_desk_actor& desk,
                caf::timespan within, const Question&... question) {
  Answer result;
  caf::error failure;
  caf::scoped_actor self{system};
  self->request(desk, detail::for_request(within), question...)
    .receive([&](Answer& x) { result = std::move(x); },
             [&](caf::error& reason) { failure = std::move(reason); });
  if (failure)
    raise(failure);
  return result;
}

} // namespace

std::vector<descriptor> remote_runtime::actions() const {
  detail::check_may_block(system_);
  const auto ask = [this] {
    return ask_desk<action_list>(system_, desk_->get(), within_, list_atom_v);
  };
  try {
    return ask().actions;
  } catch (const status_error&) {
    // Lost during the request, which can safely be repeated.
    if (!desk_->is_lost())
      throw;
  }
  return ask().actions;
}

managed_store remote_runtime::store(const std::string& key) const {
  detail::check_may_block(system_);
  // One attempt: who keeps a store that dies with its process, as
  // `connect_store` does, looks for it again by itself.
  return caf::actor_cast<managed_store>(ask_desk<caf::strong_actor_ptr>(
    system_, desk_->reconnect(), within_, caf::get_atom_v, key));
}

detail::action_ref remote_runtime::find(const std::string& key) const {
  auto all = actions();
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const auto& x) { return x.key == key; });
  if (found == all.end())
    throw status_error{errc::not_found, detail::no_action(key)};
  auto info = std::make_shared<const descriptor>(std::move(*found));
  return detail::action_ref{&system_,        desk_->get(), key,
                            std::move(info), nullptr,      desk_};
}

} // namespace tertulia
