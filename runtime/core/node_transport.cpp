// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/detail/node_transport.hpp>
#include <tertulia/status.hpp>

#include <caf/actor_cast.hpp>
#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/io/basp_broker.hpp>
#include <caf/io/middleman.hpp>
#include <caf/io/network/multiplexer.hpp>
#include <caf/settings.hpp>

#include <atomic>

#include <fmt/format.h>

using namespace std::chrono_literals;

namespace tertulia::detail {

namespace {

constexpr char option[] = "tertulia.encrypts-nodes";

// Options of CAF hold no pointers, so a configuration contains whether its
// nodes use this transport.
std::atomic<const node_transport*> encryption{nullptr};

// CAF 0.17 keeps the port of a connection that it has opened, but does not read
// it: the place for a mark that ends with the connection. A connection that the
// other node has opened has the port 0, so it counts as confirmed.
constexpr std::uint16_t confirmed = 0;

/// Calls a function with CAF's broker and the connection to a node, later, on
/// the thread to which the connections belong.
template <class F>
void with_connection(caf::actor_system& system, const caf::node_id& node, F f) {
  auto& loop = system.middleman().backend();
  loop.post([&loop, handle = node_broker(system), node, f] {
    auto& broker = dynamic_cast<caf::io::basp_broker&>(
      *caf::actor_cast<caf::abstract_actor*>(handle));
    if (broker.getf(caf::abstract_actor::is_terminated_flag))
      return;
    const auto connection = broker.instance.tbl().lookup_direct(node);
    if (!connection)
      return;
    const auto found = broker.ctx.find(*connection);
    if (found == broker.ctx.end())
      return;
    broker.context(&loop);
    f(broker, found->second);
  });
}

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
  throw status_error{
    errc::failed_precondition,
    fmt::format("{} is set, but add_network_to was not called with "
                "certificates",
                option)};
}

caf::actor node_broker(caf::actor_system& system) {
  // The broker exists from the start of the module.
  return system.middleman().named_broker<caf::io::basp_broker>(
    caf::atom("BASP"));
}

void confirm_connection(caf::actor_system& system, const caf::node_id& node) {
  with_connection(system, node,
                  [](auto&, auto& found) { found.remote_port = confirmed; });
}

void close_silent_connection(caf::actor_system& system,
                             const caf::node_id& node) {
  with_connection(system, node, [](auto& broker, auto& found) {
    if (found.remote_port == confirmed)
      return;
    const auto connection = found.hdl; // of one that ends here
    broker.connection_cleanup(connection, caf::sec::connection_timeout);
    broker.close(connection);
  });
}

} // namespace tertulia::detail
