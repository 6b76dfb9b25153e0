// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/sqlite_store.hpp>
#include <tertulia/status.hpp>

#include <caf/actor_system.hpp>
#include <caf/response_promise.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "sqlite_store_actor.hpp"
#include "sqlite_store_data.hpp"

namespace tertulia {

namespace {

/// What the store says to itself, beside what it hears from others.
using store_actor = managed_store::extend<caf::reacts_to<caf::flush_atom>>;

/// Puts the changes that wait in its mailbox into one transaction.
///
/// The first change opens the transaction and sends word behind everything that
/// waits by then, and again as long as that brings more. When it arrives, the
/// transaction is committed and all is answered that was asked since: the
/// changes, and what was read in between, for that may have seen changes that
/// are not durable before.
class sqlite_store_state {
public:
  static inline const char* name = "tertulia.sqlite_store";

  explicit sqlite_store_state(store_actor::pointer self) : self_(self) {}

  store_actor::behavior_type run(std::shared_ptr<sqlite_store_data> data,
                                 std::uint32_t max_batch) {
    data_ = std::move(data);
    max_batch_ = max_batch;
    self_->set_exit_handler([this](caf::exit_msg& x) {
      commit();
      self_->quit(x.reason);
    });
    return {
      [this](save_snapshot& x) {
        return change([&](auto& data) { return data.save(std::move(x)); });
      },
      [this](const get_snapshot& x) {
        return read([&](auto& data) { return data.get(x); });
      },
      [this](const restore_snapshot& x) {
        return change([&](auto& data) { return data.restore(x); });
      },
      [this](const list_snapshots& x) {
        return read([&](auto& data) { return data.list(x); });
      },
      [this](const get_session& x) {
        return read([&](auto& data) { return data.get(x); });
      },
      [this](save_session& x) {
        return change([&](auto& data) { return data.save(std::move(x)); });
      },
      [this](const list_sessions& x) {
        return read([&](auto& data) { return data.list(x); });
      },
      [this](const label_snapshot& x) {
        return change([&](auto& data) { return data.label(x); });
      },
      [this](const delete_session& x) {
        return change([&](auto& data) { return data.erase(x); });
      },
      [this](const prune_snapshots& x) {
        return change([&](auto& data) { return data.prune(x); });
      },
      [this](const copy_session& x) {
        return change([&](auto& data) { return data.copy(x); });
      },
      [this](const annotate_snapshot& x) {
        return change([&](auto& data) { return data.annotate(x); });
      },
      [this](const title_session& x) {
        return change([&](auto& data) { return data.title(x); });
      },
      [this](const vacuum_store&) {
        commit();
        return read([](auto& data) { return data.vacuum(); });
      },
      [this](const verify_sessions& x) {
        return read([&](auto& data) { return data.verify(x); });
      },
      [this](caf::flush_atom) {
        // As long as there is more each time, it is worth a look behind it.
        if (waiting_.size() > planned_)
          plan_commit();
        else
          commit();
      },
    };
  }

private:
  template <class Fn>
  using answer_of
    = decltype(std::declval<Fn&>()(std::declval<sqlite_store_data&>()));

  template <class Fn>
  caf::result<answer_of<Fn>> change(Fn fn) {
    try {
      if (!data_->in_transaction()) {
        data_->begin();
        plan_commit();
      }
    } catch (...) {
      return current_exception_to_error();
    }
    return answer<answer_of<Fn>>([&] { return data_->change(fn); });
  }

  template <class Fn>
  caf::result<answer_of<Fn>> read(Fn fn) {
    if (data_->in_transaction())
      return answer<answer_of<Fn>>([&] { return fn(*data_); });
    try {
      return fn(*data_);
    } catch (...) {
      return current_exception_to_error();
    }
  }

  /// Answers with what the function returns or throws, but not before all that
  /// it depends on is durable.
  template <class T, class Fn>
  caf::result<T> answer(Fn fn) {
    auto promise = self_->make_response_promise<T>();
    try {
      waiting_.push_back([promise, value = fn()](const caf::error& x) mutable {
        if (x)
          promise.deliver(x);
        else
          promise.deliver(std::move(value));
      });
    } catch (...) {
      const auto reason = current_exception_to_error();
      waiting_.push_back([promise, reason](const caf::error& x) mutable {
        promise.deliver(x ? x : reason);
      });
      if (!data_->in_transaction())
        settle(reason); // an error that has ended the transaction
    }
    if (waiting_.size() >= max_batch_)
      commit();
    return promise;
  }

  /// Sends word behind all that waits.
  void plan_commit() {
    planned_ = waiting_.size() + 1;
    self_->send(self_, caf::flush_atom_v);
  }

  void commit() {
    planned_ = 0;
    if (waiting_.empty())
      return; // the batch was full, and there is no other one
    caf::error reason;
    try {
      data_->commit();
    } catch (...) {
      reason = current_exception_to_error();
    }
    settle(reason);
  }

  void settle(const caf::error& reason) {
    for (auto& deliver : std::exchange(waiting_, {}))
      deliver(reason);
  }

  store_actor::pointer self_;
  std::shared_ptr<sqlite_store_data> data_;
  std::size_t max_batch_ = 1;
  /// How many are to be answered if nobody was waiting when word was sent.
  std::size_t planned_ = 0;

  /// Who is to be answered after the commit, or with the error if it fails.
  std::vector<std::function<void(const caf::error&)>> waiting_;
};

void check(const sqlite_options& x) {
  if (x.max_batch == 0)
    throw status_error{errc::invalid_argument, "$.maxBatch: must be 1 or more"};
  if (x.patience.count() < 0)
    throw status_error{errc::invalid_argument,
                       "$.patience: is shorter than zero"};
}

} // namespace

managed_store spawn_sqlite_store_actor(caf::actor_system& system,
                                       const std::string& file,
                                       const sqlite_options& options) {
  check(options);
  auto data = std::make_shared<sqlite_store_data>(file, options);
  return system.spawn<caf::hidden + caf::detached>(
    [](store_actor::stateful_pointer<sqlite_store_state> self,
       std::shared_ptr<sqlite_store_data> data, std::uint32_t max_batch) {
      return self->state.run(std::move(data), max_batch);
    },
    std::move(data), options.max_batch);
}

managed_store spawn_sqlite_store(caf::actor_system& system,
                                 std::filesystem::path file,
                                 sqlite_options options) {
  // One name for one file, wherever this process goes.
  std::error_code unknown;
  if (auto path = std::filesystem::weakly_canonical(file, unknown); !unknown)
    file = std::move(path);
  auto restarts = options.restarts;
  return supervise_store(
    system,
    [file = file.string(), options](caf::actor_system& where) {
      return spawn_sqlite_store_actor(where, file, options);
    },
    restarts);
}

} // namespace tertulia
