// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/detail/counted_actor.hpp>
#include <tertulia/status.hpp>
#include <tertulia/store_actor.hpp>
#include <tertulia/store_handlers.hpp>

#include <caf/actor_system.hpp>
#include <caf/response_promise.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <concepts>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "store_data.hpp"

namespace tertulia {

namespace {

/// Protocol of the store, and the message that the store sends to itself.
using store_actor = managed_store::extend<caf::reacts_to<caf::flush_atom>>;

/// Executes one change completely or not at all. If it fails after it has
/// written something, the transaction is rolled back, and all changes before it
/// are lost, too. That is rare, and a savepoint around each change would cost
/// successful changes a copy of every page that they touch.
template <class Fn>
auto change_all_or_nothing(store_data& data, Fn& fn) {
  const auto before = data.written();
  try {
    return fn(data);
  } catch (const engine_error&) {
    data.roll_back(); // the write may be half done
    throw;
  } catch (...) {
    if (data.written() != before)
      data.roll_back();
    throw;
  }
}

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
  virtual void run(store_data& data) = 0;

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

  void run(store_data& data) override {
    try {
      result_ = changes() ? change_all_or_nothing(data, fn_) : fn_(data);
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
/// into one transaction, if the engine has transactions.
///
/// The first change begins the transaction and sends a `flush_atom` to the
/// actor itself, behind all messages that wait in the mailbox by then. If more
/// than `planned_` requests wait when the atom arrives, it is sent again.
/// Otherwise the transaction is committed, and all requests since its begin are
/// answered: the changes, and also the reads between them, because they may
/// have seen changes that are not durable before the commit.
class store_actor_state {
public:
  static inline const char* name = "tertulia.store";

  explicit store_actor_state(store_actor::pointer self) : self_(self) {}

  store_actor_state(const store_actor_state&) = delete;
  store_actor_state& operator=(const store_actor_state&) = delete;

  /// Answers what a killed store still holds: CAF drops a promise without an
  /// answer.
  ~store_actor_state() {
    for (auto& x : waiting_)
      x->answer(fail(errc::unavailable, "the store was killed"));
  }

  store_actor::behavior_type
  make_behavior(std::shared_ptr<detail::actor_counts> counts,
                std::shared_ptr<store_tables> tables, std::uint32_t max_batch) {
    has_transactions_ = tables->has_transactions();
    max_batch_ = max_batch;
    data_.emplace(std::move(tables), std::move(counts));
    self_->set_exit_handler([this](caf::exit_msg& x) {
      commit();
      self_->quit(x.reason);
    });
    return handle_verbs<store_actor>(
      [this](auto x) { return execute(std::move(x)); },
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
  caf::result<store_reply_t<Verb>> execute(Verb x) {
    constexpr auto has_own_transactions = std::derived_from<Verb, store_sweep>;
    constexpr auto is_change
      = !std::derived_from<Verb, store_read> && !has_own_transactions;
    try {
      if constexpr (has_own_transactions)
        commit();
      if constexpr (is_change)
        if (has_transactions_ && !data_->in_transaction()) {
          data_->begin();
          plan_commit();
        }
      if (!data_->in_transaction())
        return answer(*data_, std::move(x));
    } catch (...) {
      return current_exception_to_error();
    }
    return enqueue<store_reply_t<Verb>>(is_change,
                                        [x = std::move(x)](store_data& data) {
                                          return answer(data, x);
                                        });
  }

  /// Executes a request, and answers it when everything that it depends on is
  /// durable.
  template <class T, class Fn>
  caf::result<T> enqueue(bool changes, Fn fn) {
    auto promise = self_->make_response_promise<T>();
    waiting_.push_back(
      std::make_unique<request_for<T, Fn>>(changes, std::move(fn), promise));
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
  /// written something, a damaged page, or a failing disk, after which the
  /// engine does not commit any more. Such an error must not affect the other
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
  std::optional<store_data> data_;
  bool has_transactions_ = false;
  std::size_t max_batch_ = 1;
  /// Maximum number of waiting requests with which the next flush message
  /// commits: one more than waited when it was sent. For the first one of a
  /// transaction that is the change that began it. Each later one is sent again
  /// only if at least two more requests have arrived.
  std::size_t planned_ = 0;
  /// Requests that are answered after the commit.
  std::vector<std::unique_ptr<request>> waiting_;
};

using counted_store = detail::with_counts<
  caf::stateful_actor<store_actor_state, store_actor::base>>;

} // namespace

managed_store spawn_store_actor(caf::actor_system& system,
                                std::shared_ptr<store_tables> tables,
                                store_actor_options options) {
  if (options.max_batch == 0)
    throw status_error{errc::invalid_argument, "$.maxBatch: must be 1 or more"};
  const auto run = [](counted_store* self, std::shared_ptr<store_tables> tables,
                      std::uint32_t max_batch) {
    return self->state.make_behavior(self->counts(), std::move(tables),
                                     max_batch);
  };
  if (options.blocks)
    return system.spawn<caf::hidden + caf::detached>(run, std::move(tables),
                                                     options.max_batch);
  return system.spawn<caf::hidden>(run, std::move(tables), options.max_batch);
}

} // namespace tertulia
