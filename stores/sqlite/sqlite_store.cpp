// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/sqlite_store.hpp>
#include <tertulia/status.hpp>
#include <tertulia/store_handlers.hpp>

#include <caf/actor_system.hpp>
#include <caf/response_promise.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "file_hold.hpp"
#include "size_limit.hpp"
#include "sqlite_store_actor.hpp"
#include "sqlite_store_data.hpp"

namespace tertulia {

namespace {

/// Protocol of the store, and the message that the store sends to itself.
using store_actor = managed_store::extend<caf::reacts_to<caf::flush_atom>>;

template <class T, class... Ts>
constexpr bool is_one_of = (std::is_same_v<T, Ts> || ...);

template <class Verb>
constexpr bool is_read
  = is_one_of<Verb, get_snapshot_request, get_session_request,
              list_snapshots_request, list_sessions_request,
              verify_sessions_request>;

template <class Verb>
constexpr bool has_own_transactions
  = is_one_of<Verb, prune_snapshots_request, vacuum_store_request>;

/// Request whose client waits until the batch is durable.
class request {
public:
  explicit request(bool changes) : changes_(changes) {}

  request(const request&) = delete;
  request& operator=(const request&) = delete;
  virtual ~request() = default;

  /// Returns whether the request needs a transaction.
  [[nodiscard]] bool changes() const noexcept {
    return changes_;
  }

  /// Executes the request and keeps the result. May be repeated after a
  /// rollback.
  virtual void run(sqlite_store_data& data) = 0;

  /// Sends the result, or the reason why the whole batch has failed.
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

/// State of the store actor, which puts the changes that wait in its mailbox
/// into one transaction.
///
/// The first change begins the transaction and sends a `flush_atom` to the
/// actor itself, behind all messages that wait in the mailbox by then. If more
/// than `planned_` requests wait when the atom arrives, it is sent again.
/// Otherwise the transaction is committed, and all requests since its begin are
/// answered: the changes, and also the reads between them, because they may
/// have seen changes that are not durable before the commit.
class sqlite_store_state {
public:
  static inline const char* name = "tertulia.sqlite_store";

  explicit sqlite_store_state(store_actor::pointer self) : self_(self) {}

  sqlite_store_state(const sqlite_store_state&) = delete;
  sqlite_store_state& operator=(const sqlite_store_state&) = delete;

  /// Answers what a killed store still holds: CAF drops a promise without an
  /// answer.
  ~sqlite_store_state() {
    for (auto& x : waiting_)
      x->answer(fail(errc::unavailable, "the store was killed"));
  }

  store_actor::behavior_type
  make_behavior(std::shared_ptr<sqlite_store_data> data,
                std::uint32_t max_batch) {
    data_ = std::move(data);
    max_batch_ = max_batch;
    self_->set_exit_handler([this](caf::exit_msg& x) {
      commit();
      self_->quit(x.reason);
    });
    return handle_verbs<store_actor>(
      [this](auto x) { return answer(std::move(x)); },
      [this](caf::flush_atom) {
        // As long as enough requests arrive each time, it is worth waiting for
        // the next ones.
        if (waiting_.size() > planned_)
          plan_commit();
        else
          commit();
      });
  }

private:
  template <class Verb>
  auto answer(Verb x) {
    auto fn = [x = std::move(x)](auto& data) { return data.answer(x); };
    if constexpr (has_own_transactions<Verb>)
      commit();
    if constexpr (is_read<Verb> || has_own_transactions<Verb>)
      return read(std::move(fn));
    else
      return change(std::move(fn));
  }

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

  /// Executes a request, and answers it when everything that it depends on is
  /// durable.
  template <class Fn>
  caf::result<answer_of<Fn>> enqueue(bool changes, Fn fn) {
    using answer_type = answer_of<Fn>;
    auto promise = self_->make_response_promise<answer_type>();
    waiting_.push_back(std::make_unique<request_for<answer_type, Fn>>(
      changes, std::move(fn), promise));
    waiting_.back()->run(*data_);
    if (!data_->in_transaction()) // an error has ended it
      run_each();
    else if (waiting_.size() >= max_batch_)
      commit();
    return promise;
  }

  /// Sends a flush message behind all messages that wait in the mailbox.
  void plan_commit() {
    planned_ = waiting_.size() + 1;
    self_->send(self_, caf::flush_atom_v);
  }

  void commit() {
    planned_ = 0;
    if (waiting_.empty())
      return; // the batch was full and has been committed
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

  /// Executes all waiting requests again, each in its own transaction, after an
  /// error that has rolled back all of them: a change that failed after it had
  /// written something, a damaged page, or a failing disk, after which SQLite
  /// does not commit any more. Such an error must not affect the other
  /// requests.
  void run_each() {
    planned_ = 0;
    data_->roll_back(); // also drops caches of reverted changes
    caf::error locked;  // why writing is impossible
    for (auto& x : std::exchange(waiting_, {})) {
      auto reason = x->changes() ? locked : caf::none;
      if (!reason)
        reason = run_alone(*x, locked);
      x->answer(reason);
    }
  }

  /// Executes one request in its own transaction.
  /// @param locked receives the reason why a transaction cannot be opened. Only
  ///        one of the waiting requests waits for that, which is enough.
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
  /// Maximum number of waiting requests with which the next flush message
  /// commits: one more than waited when it was sent. For the first one of a
  /// transaction that is the change that began it. Each later one is sent again
  /// only if at least two more requests have arrived.
  std::size_t planned_ = 0;
  /// Requests that are answered after the commit.
  std::vector<std::unique_ptr<request>> waiting_;
};

void check(const sqlite_options& x) {
  if (x.max_batch == 0)
    throw status_error{errc::invalid_argument, "$.maxBatch: must be 1 or more"};
  if (x.patience.count() < 0)
    throw status_error{errc::invalid_argument,
                       "$.patience: must not be negative"};
}

/// Throws if a thread cannot be started. If CAF fails to start a thread for an
/// actor, the actor system never ends.
void expect_thread() {
  try {
    std::thread{[] {}}.join();
  } catch (const std::system_error& x) {
    throw status_error{errc::resource_exhausted,
                       std::string{"cannot start a thread for a store: "}
                         + x.what()};
  }
}

/// Returns a file name that does not depend on the working directory of the
/// process, and that SQLite interprets only as a file name.
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
      // This thread belongs to the store alone.
      thread_local const size_limit_is_an_error guard;
      return self->state.make_behavior(std::move(data), max_batch);
    },
    std::move(data), options.max_batch);
}

store_factory stores_in_file(const std::filesystem::path& file,
                             const sqlite_options& options) {
  return [name = full_name_of(file), options](caf::actor_system& system) {
    return spawn_sqlite_store_actor(system, name, options);
  };
}

managed_store spawn_sqlite_store(caf::actor_system& system,
                                 std::filesystem::path file,
                                 sqlite_options options) {
  return supervise_store(system, stores_in_file(file, options),
                         options.restarts);
}

} // namespace tertulia
