// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/sqlite_store.hpp>
#include <tertulia/status.hpp>

#include <caf/actor_system.hpp>
#include <caf/response_promise.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <memory>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "file_hold.hpp"
#include "size_limit.hpp"
#include "sqlite_store_actor.hpp"
#include "sqlite_store_data.hpp"

namespace tertulia {

namespace {

/// What the store says to itself, beside what it hears from others.
using store_actor = managed_store::extend<caf::reacts_to<caf::flush_atom>>;

/// What somebody waits for until the batch is durable.
class request {
public:
  explicit request(bool changes) : changes_(changes) {}

  request(const request&) = delete;
  request& operator=(const request&) = delete;
  virtual ~request() = default;

  /// Whether it needs a transaction.
  [[nodiscard]] bool changes() const noexcept {
    return changes_;
  }

  /// Does what is asked for and keeps what comes of it; may be done again after
  /// that has been taken back.
  virtual void run(sqlite_store_data& data) = 0;

  /// Says what has come of it, or why all of the batch has failed.
  virtual void answer(const caf::error& reason) = 0;

private:
  bool changes_;
};

template <class T, class Fn>
class request_for : public request {
public:
  request_for(bool changes, Fn fn, caf::typed_response_promise<T> promise)
    : request(changes), fn_(std::move(fn)), promise_(std::move(promise)) {}

  void run(sqlite_store_data& data) override {
    try {
      result_ = changes() ? data.change(fn_) : fn_(data);
    } catch (...) {
      result_ = current_exception_to_error();
    }
  }

  void answer(const caf::error& reason) override {
    if (reason)
      promise_.deliver(reason);
    else if (result_)
      promise_.deliver(std::move(*result_));
    else
      promise_.deliver(result_.error());
  }

private:
  Fn fn_;
  caf::typed_response_promise<T> promise_;
  caf::expected<T> result_{caf::sec::none};
};

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
        return change([x = std::move(x)](auto& data) { return data.save(x); });
      },
      [this](get_snapshot& x) {
        return read([x = std::move(x)](auto& data) { return data.get(x); });
      },
      [this](restore_snapshot& x) {
        return change(
          [x = std::move(x)](auto& data) { return data.restore(x); });
      },
      [this](list_snapshots& x) {
        return read([x = std::move(x)](auto& data) { return data.list(x); });
      },
      [this](get_session& x) {
        return read([x = std::move(x)](auto& data) { return data.get(x); });
      },
      [this](save_session& x) {
        return change([x = std::move(x)](auto& data) { return data.save(x); });
      },
      [this](list_sessions& x) {
        return read([x = std::move(x)](auto& data) { return data.list(x); });
      },
      [this](label_snapshot& x) {
        return change([x = std::move(x)](auto& data) { return data.label(x); });
      },
      [this](delete_session& x) {
        return change([x = std::move(x)](auto& data) { return data.erase(x); });
      },
      [this](prune_snapshots& x) {
        commit();
        return read([x = std::move(x)](auto& data) { return data.prune(x); });
      },
      [this](copy_session& x) {
        return change([x = std::move(x)](auto& data) { return data.copy(x); });
      },
      [this](annotate_snapshot& x) {
        return change(
          [x = std::move(x)](auto& data) { return data.annotate(x); });
      },
      [this](title_session& x) {
        return change([x = std::move(x)](auto& data) { return data.title(x); });
      },
      [this](const vacuum_store&) {
        commit();
        return read([](auto& data) { return data.vacuum(); });
      },
      [this](verify_sessions& x) {
        return read([x = std::move(x)](auto& data) { return data.verify(x); });
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
    return enqueue(true, std::move(fn));
  }

  template <class Fn>
  caf::result<answer_of<Fn>> read(Fn fn) {
    if (data_->in_transaction())
      return enqueue(false, std::move(fn));
    try {
      return fn(*data_);
    } catch (...) {
      return current_exception_to_error();
    }
  }

  /// Does what is asked for, and answers when all that it depends on is
  /// durable.
  template <class Fn>
  caf::result<answer_of<Fn>> enqueue(bool changes, Fn fn) {
    using answer_type = answer_of<Fn>;
    auto promise = self_->make_response_promise<answer_type>();
    waiting_.push_back(std::make_unique<request_for<answer_type, Fn>>(
      changes, std::move(fn), promise));
    waiting_.back()->run(*data_);
    if (!data_->in_transaction()) // an error that has ended it
      run_each();
    else if (waiting_.size() >= max_batch_)
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
    if (reason == errc::data_loss && waiting_.size() > 1) {
      run_each();
      return;
    }
    for (auto& x : std::exchange(waiting_, {}))
      x->answer(reason);
  }

  /// Does again all that waits, each in a transaction of its own, after an
  /// error that has taken back all of them: a change that failed when it had
  /// written something, a damaged page or a failing disk, after which SQLite
  /// commits nothing any more. That must not harm the others.
  void run_each() {
    planned_ = 0;
    data_->roll_back(); // nor may anybody remember what was taken back
    caf::error locked;  // why nobody may write
    for (auto& x : std::exchange(waiting_, {})) {
      auto reason = x->changes() ? locked : caf::none;
      if (!reason)
        reason = run_alone(*x, locked);
      x->answer(reason);
    }
  }

  /// @param locked is told why no transaction can be opened: one of those who
  ///               wait has been patient, which is enough.
  caf::error run_alone(request& x, caf::error& locked) {
    try {
      if (x.changes())
        data_->begin();
    } catch (...) {
      return locked = current_exception_to_error();
    }
    try {
      x.run(*data_);
      if (data_->in_transaction())
        data_->commit();
    } catch (...) {
      return current_exception_to_error();
    }
    return caf::none;
  }

  store_actor::pointer self_;
  std::shared_ptr<sqlite_store_data> data_;
  std::size_t max_batch_ = 1;
  /// How many are to be answered if nobody was waiting when word was sent.
  std::size_t planned_ = 0;
  /// Who is to be answered after the commit.
  std::vector<std::unique_ptr<request>> waiting_;
};

void check(const sqlite_options& x) {
  if (x.max_batch == 0)
    throw status_error{errc::invalid_argument, "$.maxBatch: must be 1 or more"};
  if (x.patience.count() < 0)
    throw status_error{errc::invalid_argument,
                       "$.patience: is shorter than zero"};
}

/// CAF never ends once an actor got no thread of its own.
void expect_thread() {
  try {
    std::thread{[] {}}.join();
  } catch (const std::system_error& x) {
    throw status_error{errc::resource_exhausted,
                       std::string{"there is no thread for a store: "}
                         + x.what()};
  }
}

/// The name of a file that stays the same wherever this process goes, and that
/// SQLite takes for a name and for nothing else.
std::string full_name_of(const std::filesystem::path& file) {
  if (file.empty() || file.native().find('\0') != std::string::npos)
    throw status_error{errc::invalid_argument,
                       "the file of a store needs a name"};
  std::error_code error;
  auto result = std::filesystem::absolute(file, error);
  if (error)
    reject_file(file.string(), error.value());
  if (auto path = std::filesystem::weakly_canonical(result, error); !error)
    result = std::move(path);
  return result.string();
}

} // namespace

managed_store spawn_sqlite_store_actor(caf::actor_system& system,
                                       const std::string& file,
                                       const sqlite_options& options) {
  check(options);
  expect_thread();
  const size_limit_is_an_error guard;
  auto data = std::make_shared<sqlite_store_data>(file, options);
  return system.spawn<caf::hidden + caf::detached>(
    [](store_actor::stateful_pointer<sqlite_store_state> self,
       std::shared_ptr<sqlite_store_data> data, std::uint32_t max_batch) {
      // The thread is the store's own.
      thread_local const size_limit_is_an_error guard;
      return self->state.run(std::move(data), max_batch);
    },
    std::move(data), options.max_batch);
}

store_factory stores_in_file(const std::filesystem::path& file,
                             const sqlite_options& options) {
  return [name = full_name_of(file), options](caf::actor_system& where) {
    return spawn_sqlite_store_actor(where, name, options);
  };
}

managed_store spawn_sqlite_store(caf::actor_system& system,
                                 std::filesystem::path file,
                                 sqlite_options options) {
  return supervise_store(system, stores_in_file(file, options),
                         options.restarts);
}

} // namespace tertulia
