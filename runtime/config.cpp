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

void add_network_to(caf::actor_system_config& cfg) {
  // Several seconds: CAF gives a handshake no longer than one interval.
  cfg.set("middleman.heartbeat-interval", caf::timespan{5s});
  cfg.set("middleman.connection-timeout", caf::timespan{20s});
  cfg.load<caf::io::middleman>();
}

config::config() {
  add_messages_to(*this);
}

config& config::with_network() {
  add_network_to(*this);
  return *this;
}

} // namespace tertulia
