// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/memory_store.hpp>
#include <tertulia/status.hpp>
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

  managed_store::behavior_type run(std::shared_ptr<memory_store_data> data) {
    data_ = std::move(data);
    return {
      [this](save_snapshot& x) {
        return answer([&] { return data_->save(std::move(x)); });
      },
      [this](const get_snapshot& x) {
        return answer([&] { return data_->get(x); });
      },
      [this](const restore_snapshot& x) {
        return answer([&] { return data_->restore(x); });
      },
      [this](const list_snapshots& x) {
        return answer([&] { return data_->list(x); });
      },
      [this](const get_session& x) {
        return answer([&] { return data_->get(x); });
      },
      [this](save_session& x) {
        return answer([&] { return data_->save(std::move(x)); });
      },
      [this](const list_sessions& x) {
        return answer([&] { return data_->list(x); });
      },
      [this](const label_snapshot& x) {
        return answer([&] { return data_->label(x); });
      },
      [this](const delete_session& x) {
        return answer([&] { return data_->erase(x); });
      },
      [this](const prune_snapshots& x) {
        return answer([&] { return data_->prune(x); });
      },
      [this](const copy_session& x) {
        return answer([&] { return data_->copy(x); });
      },
      [this](const annotate_snapshot& x) {
        return answer([&] { return data_->annotate(x); });
      },
      [this](const title_session& x) {
        return answer([&] { return data_->title(x); });
      },
      [](const vacuum_store&) { return vacuumed{}; },
      [this](const verify_sessions& x) {
        return answer([&] { return data_->verify(x); });
      },
    };
  }

private:
  /// Returns the result of a function, or its exception as an error.
  template <class Fn>
  static auto answer(Fn fn) -> caf::result<decltype(fn())> {
    try {
      return fn();
    } catch (...) {
      return current_exception_to_error();
    }
  }

  std::shared_ptr<memory_store_data> data_;
};

} // namespace

managed_store spawn_memory_store(caf::actor_system& system) {
  auto data = std::make_shared<memory_store_data>();
  return supervise_store(system, [data](caf::actor_system& where) {
    return where.spawn<caf::hidden>(
      [](managed_store::stateful_pointer<memory_store_state> self,
         std::shared_ptr<memory_store_data> data) {
        return self->state.run(std::move(data));
      },
      data);
  });
}

} // namespace tertulia
