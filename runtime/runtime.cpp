// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/runtime.hpp>

#include <caf/io/middleman.hpp>
#include <caf/scoped_actor.hpp>
#include <caf/send.hpp>

#include <exception>
#include <thread>

namespace tertulia {

runtime::runtime(caf::actor_system& system, runtime_options options)
  : env_(detail::make_environment(system, options)) {}

runtime::~runtime() {
  stop();
  caf::scoped_actor self{env_->system};
  self->wait_for(env_->desk);
  // Last: until then connections need it for their deadlines.
  caf::anon_send_exit(env_->timer, caf::exit_reason::user_shutdown);
}

std::vector<descriptor> runtime::actions() const {
  return env_->actions.list();
}

std::optional<descriptor> runtime::find_action(const std::string& key) const {
  if (const auto found = env_->actions.find(key))
    return found->info;
  return std::nullopt;
}

std::uint16_t runtime::publish(std::uint16_t port, const std::string& address) {
  if (!env_->system.has_middleman())
    throw status_error{errc::failed_precondition,
                       "the actor system has no network module"};
  auto bound
    = env_->system.middleman().publish(env_->desk, port, address.c_str(), true);
  if (!bound)
    throw status_error{errc::unavailable,
                       "cannot listen on " + address + ':'
                         + std::to_string(port) + ": "
                         + env_->system.render(bound.error())};
  return *bound;
}

void runtime::stop() {
  caf::anon_send_exit(env_->desk, caf::exit_reason::user_shutdown);
}

json_connection runtime::connect(const std::string& key,
                                 client_options<json> options) const {
  payload init;
  if (options.init)
    init = payload::of(std::move(*options.init));
  return json_connection{detail::blocking_client::connect(
    env_->system, env_->desk,
    open{key, std::move(init), std::move(options.connection), {}},
    options.open_within, env_->actions.find(key))};
}

json runtime::run_once(json_connection talk, const std::vector<json>& inputs,
                       const std::function<void(const json&)>& on_chunk) {
  // Inputs wait for the body and the body waits for us to read its chunks, so
  // the two sides need a thread each.
  std::exception_ptr refused;
  std::jthread sender{[&] {
    try {
      for (const auto& x : inputs)
        talk.send(x);
      talk.close();
    } catch (const status_error& error) {
      // An action may end before it has read everything.
      if (error.code() != errc::failed_precondition) {
        refused = std::current_exception();
        talk.cancel();
      }
    }
  }};
  json result;
  try {
    do {
      for (const auto& chunk : talk.responses())
        if (on_chunk)
          on_chunk(chunk);
    } while (!talk.finished());
    result = talk.output();
  } catch (...) {
    talk.cancel();
    sender.join();
    if (refused)
      std::rethrow_exception(refused);
    throw;
  }
  sender.join();
  return result;
}

} // namespace tertulia
