// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/activity.hpp>
#include <tertulia/descriptor.hpp>
#include <tertulia/detail/blocking_caller.hpp>
#include <tertulia/detail/counted_actor.hpp>
#include <tertulia/detail/front_desk.hpp>
#include <tertulia/detail/registry.hpp>
#include <tertulia/json.hpp>
#include <tertulia/remote_actor.hpp>
#include <tertulia/runtime.hpp>

#include <caf/io/middleman.hpp>
#include <caf/scoped_actor.hpp>
#include <caf/send.hpp>

#include <algorithm>
#include <chrono>

namespace tertulia {

runtime::runtime(caf::actor_system& system, runtime_options options)
  : env_((detail::check_messages_of(system),
          detail::make_environment(system, options))) {}

runtime::~runtime() {
  stop();
  caf::scoped_actor self{env_->system};
  self->wait_for(env_->desk);
  // The timer ends last: connections need it for their deadlines until then.
  env_->timer->stop();
}

std::vector<descriptor> runtime::actions() const {
  return env_->actions.list();
}

std::optional<descriptor> runtime::find_action(const std::string& key) const {
  if (const auto found = env_->actions.find(key))
    return *found->info();
  return std::nullopt;
}

std::uint16_t runtime::publish(std::uint16_t port, const std::string& address) {
  auto& system = env_->system;
  const auto desk = detail::spawn_published_desk(env_);
  return detail::publish(system, caf::actor_cast<caf::strong_actor_ptr>(desk),
                         system.message_types(env_->desk), port, address,
                         env_->log);
}

json_action runtime::action(const std::string& key) const {
  auto found = env_->actions.find(key);
  if (!found)
    throw status_error{errc::not_found, detail::no_action(key)};
  return detail::access::make<json_action>(reference(found));
}

const front_desk_actor& runtime::front_desk() const noexcept {
  return env_->desk;
}

tracer& runtime::traces() const noexcept {
  return env_->traces;
}

std::vector<action_activity> runtime::activity() const {
  return env_->actions.activities();
}

std::vector<shared_actor_activity> runtime::shared_activity() const {
  shared_actor_activity desk{"front_desk"};
  shared_actor_activity stores{"store"};
  const auto add = [](shared_actor_activity& to, const auto& handle) {
    const auto from
      = detail::counts_of(caf::actor_cast<caf::strong_actor_ptr>(handle));
    if (!from)
      return;
    to.waiting += from->waiting();
    to.commits += from->commits();
  };
  add(desk, env_->desk);
  for (const auto& x : env_->actions.stores())
    add(stores, x);
  return {std::move(desk), std::move(stores)};
}

caf::actor_system& runtime::system() const noexcept {
  return env_->system;
}

void runtime::add(
  const std::vector<std::shared_ptr<const detail::action>>& all) {
  env_->actions.add(all);
}

void runtime::add(const std::shared_ptr<const detail::action>& action) {
  env_->actions.add({action});
}

void runtime::keep(const std::shared_ptr<const detail::action>& action) {
  env_->actions.keep(action);
}

detail::action_ref
runtime::reference(const std::shared_ptr<const detail::action>& action) const {
  return {&env_->system, env_->desk, action->key(), action->info(), action};
}

std::shared_ptr<const json> runtime::run_text(const std::string& key,
                                              const std::string& input) const {
  return std::make_shared<const json>(
    run_action(key, {detail::parse_document(input)}));
}

bool runtime::wait_for_turns(caf::timespan within) const {
  detail::check_may_block(env_->system);
  using clock = std::chrono::steady_clock;
  constexpr caf::timespan longest = std::chrono::hours{24 * 365};
  const auto until = clock::now() + std::min(within, longest);
  auto result = true;
  caf::scoped_actor self{env_->system};
  for (const auto& run : env_->runs.all())
    self
      ->request(run, std::max<caf::timespan>(until - clock::now(), {}),
                run_request{run_verb::await_turn_end, {}})
      .receive([](const run_info&) {},
               [&](const caf::error& x) {
                 // A run that has ended is in no turn.
                 if (x == caf::sec::request_timeout)
                   result = false;
               });
  return result;
}

void runtime::stop() {
  caf::anon_send_exit(env_->desk, caf::exit_reason::user_shutdown);
}

} // namespace tertulia
