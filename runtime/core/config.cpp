// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/action.hpp>
#include <tertulia/config.hpp>
#include <tertulia/errc.hpp>
#include <tertulia/open.hpp>
#include <tertulia/session_protocol.hpp>
#include <tertulia/status.hpp>
#include <tertulia/store.hpp>
#include <tertulia/turn.hpp>
#include <tertulia/type_ids.hpp>

#include <caf/io/middleman.hpp>

#include <chrono>

#include "network/transport_choice.hpp"

using namespace std::chrono_literals;

namespace tertulia {

void add_messages_to(caf::actor_system_config& cfg) {
  cfg.add_message_types<caf::id_block::tertulia_messages>();
  // CAF 0.17.6 cannot compile the overload that takes just the enum.
  cfg.add_error_category(
    caf::detail::error_factory<errc>::category,
    [](std::uint8_t code, caf::atom_value category,
       const caf::message& context) {
      const auto status = to_status(caf::error{code, category, context});
      return std::string{to_string(status.code())} + ": " + status.message();
    });
}

void detail::check_messages_of(caf::actor_system& system) {
  const auto& cfg = system.config();
  if (cfg.value_factories_by_rtti.count(typeid(open_request)) == 0
      || cfg.error_renderers.count(caf::detail::error_factory<errc>::category)
           == 0)
    throw status_error{errc::failed_precondition,
                       "the actor system does not know the messages of "
                       "tertulia: call tertulia::add_messages_to(cfg) before "
                       "the system is made, or use a tertulia::config"};
}

namespace {

void add_middleman(caf::actor_system_config& cfg) {
  // Several seconds, because CAF limits a handshake to one interval.
  cfg.set("middleman.heartbeat-interval", caf::timespan{5s});
  cfg.set("middleman.connection-timeout", caf::timespan{20s});
  cfg.load<caf::io::middleman>();
}

} // namespace

tls_files tls_files::of(const std::string& directory, const std::string& name) {
  const auto start = directory + '/';
  return {start + name + ".crt", start + name + ".key",
          start + "authority.crt"};
}

void add_network_to(caf::actor_system_config& cfg, const tls_files& files) {
  // The files are stored in CAF's own options; its OpenSSL module is not
  // loaded.
  cfg.openssl_certificate = files.certificate;
  cfg.openssl_key = files.key;
  cfg.openssl_cafile = files.authority;
  network::set_tls(cfg, true);
  add_middleman(cfg);
}

void add_network_to(caf::actor_system_config& cfg, transport) {
  network::set_tls(cfg, false);
  add_middleman(cfg);
}

config::config() {
  add_messages_to(*this);
}

config& config::with_network(const tls_files& files) {
  add_network_to(*this, files);
  return *this;
}

config& config::with_network(transport choice) {
  add_network_to(*this, choice);
  return *this;
}

} // namespace tertulia
