// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/config.hpp>
#include <tertulia/descriptor.hpp>
#include <tertulia/detail/node_transport.hpp>
#include <tertulia/errc.hpp>
#include <tertulia/open.hpp>
#include <tertulia/session_protocol.hpp>
#include <tertulia/status.hpp>
#include <tertulia/store.hpp>
#include <tertulia/turn.hpp>
#include <tertulia/type_ids.hpp>

#include <fmt/format.h>

namespace tertulia {

void add_messages_to(caf::actor_system_config& cfg) {
  cfg.add_message_types<caf::id_block::tertulia_messages>();
  // CAF 0.17.6 cannot compile the overload that takes just the enum.
  cfg.add_error_category(
    caf::detail::error_factory<errc>::category,
    [](std::uint8_t code, caf::atom_value category,
       const caf::message& context) {
      const auto status = to_status(caf::error{code, category, context});
      return fmt::format("{}: {}", to_string(status.code()), status.message());
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

void add_network_to(caf::actor_system_config& cfg, transport) {
  detail::add_network_module(cfg, nullptr);
}

config::config() {
  add_messages_to(*this);
}

} // namespace tertulia
