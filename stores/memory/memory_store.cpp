// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/memory_store.hpp>
#include <tertulia/status.hpp>
#include <tertulia/store_handlers.hpp>
#include <tertulia/store_supervisor.hpp>

#include <caf/actor_system.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <memory>
#include <utility>

#include "memory_store_data.hpp"

namespace tertulia {

namespace {

class memory_store_state {
public:
  static inline const char* name = "tertulia.memory_store";

  explicit memory_store_state(managed_store::pointer) {}

  static managed_store::behavior_type
  make_behavior(std::shared_ptr<memory_store_data> data) {
    return handle_verbs([data = std::move(data)](auto x) {
      using result = caf::result<decltype(data->answer(std::move(x)))>;
      try {
        return result{data->answer(std::move(x))};
      } catch (...) {
        return result{current_exception_to_error()};
      }
    });
  }
};

} // namespace

managed_store spawn_memory_store(caf::actor_system& system) {
  auto data = std::make_shared<memory_store_data>();
  return supervise_store(system, [data](caf::actor_system& system) {
    return system.spawn<caf::hidden>(
      [](managed_store::stateful_pointer<memory_store_state> self,
         std::shared_ptr<memory_store_data> data) {
        return self->state.make_behavior(std::move(data));
      },
      data);
  });
}

} // namespace tertulia
