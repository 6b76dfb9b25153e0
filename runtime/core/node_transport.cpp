// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/detail/node_transport.hpp>
#include <tertulia/status.hpp>

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/io/basp_broker.hpp>
#include <caf/io/middleman.hpp>
#include <caf/settings.hpp>

#include <atomic>

using namespace std::chrono_literals;

namespace tertulia::detail {

namespace {

constexpr char option[] = "tertulia.encrypts-nodes";

// Options of CAF hold no pointers, so a configuration contains whether its
// nodes use this transport.
std::atomic<const node_transport*> encryption{nullptr};

} // namespace

void add_network_module(caf::actor_system_config& cfg,
                        const node_transport* encrypted) {
  if (encrypted != nullptr)
    encryption = encrypted;
  caf::put(cfg.content, option, encrypted != nullptr);
  // Several seconds, because CAF limits a handshake to one interval.
  cfg.set("middleman.heartbeat-interval", caf::timespan{5s});
  cfg.set("middleman.connection-timeout", caf::timespan{20s});
  cfg.load<caf::io::middleman>();
}

const node_transport* transport_of(caf::actor_system& system) {
  if (!system.has_middleman())
    throw status_error{errc::failed_precondition,
                       "the actor system has no network module"};
  const auto encrypted = caf::get_if<bool>(&system.config().content, option);
  // If the module was added by other means, plain text was not chosen
  // explicitly.
  if (!encrypted)
    throw status_error{errc::failed_precondition,
                       "the network module was not added by add_network_to"};
  if (!*encrypted)
    return nullptr;
  if (const auto* result = encryption.load())
    return result;
  throw status_error{errc::failed_precondition,
                     std::string{option}
                       + " is set, but add_network_to was not called with "
                         "certificates"};
}

caf::actor node_broker(caf::actor_system& system) {
  // The broker exists from the start of the module.
  return system.middleman().named_broker<caf::io::basp_broker>(
    caf::atom("BASP"));
}

} // namespace tertulia::detail
