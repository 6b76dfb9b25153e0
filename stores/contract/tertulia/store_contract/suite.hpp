// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/detail/store_model.hpp>
#include <tertulia/protocol.hpp>
#include <tertulia/status.hpp>
#include <tertulia/store.hpp>

#include <caf/actor_addr.hpp>
#include <caf/actor_cast.hpp>
#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/detail/type_list.hpp>
#include <caf/exit_reason.hpp>
#include <caf/scoped_actor.hpp>
#include <caf/send.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

// Common parts of the cases of the store contract. The cases are split by topic
// and belong together: include tertulia/store_contract.hpp.

namespace tertulia {

/// Handle type of the stores that a factory opens.
template <class Factory>
using store_of
  = decltype(std::declval<Factory&>().open(std::declval<caf::actor_system&>()));

/// Factory whose stores can be managed. In CAF 0.17 each typed handle claims to
/// convert to each other one, so the signatures are compared.
template <class T>
concept makes_managed_stores
  = caf::detail::tl_subset_of<typename managed_store::signatures,
                              typename store_of<T>::signatures>::value;

/// Factory whose stores outlive their actors.
template <class T>
concept makes_durable_stores = requires {
  requires T::durable;
};

/// Factory whose stores need more than the default of the actor system, such as
/// a network.
template <class T>
concept configures_systems = requires(caf::actor_system_config& x) {
  T::configure(x);
};

/// Factory that can damage the stored data of a state.
template <class T>
concept corrupts_states = requires(T& x, const state_id& id) {
  x.corrupt(id);
};

/// Factory that can remove the stored data of a state.
template <class T>
concept loses_states = requires(T& x, const state_id& id) {
  x.lose(id);
};

/// Test suite of the contract. `Factory` is described in
/// tertulia/store_contract.hpp.
///
/// @threads each test has an actor system of its own.
/// @design  docs/sessions.md#records-and-states.
template <class Factory>
class store_contract : public ::testing::Test {
public:
  static constexpr bool managed = makes_managed_stores<Factory>;
  static constexpr bool durable = makes_durable_stores<Factory>;

  /// Time-out that ends a test that would otherwise hang.
  static constexpr auto patience = std::chrono::seconds{30};

  /// Store with an actor system of its own, and access to the store.
  class fixture {
  public:
    fixture() : store_(factory_.open(system_)) {}

    fixture(const fixture&) = delete;
    fixture& operator=(const fixture&) = delete;

    ~fixture() {
      for (const auto& x : holders_)
        if (const auto holder = caf::actor_cast<lease_holder>(x))
          kill(holder);
      close();
    }

    template <class Verb>
    detail::outcome<Verb> operator()(const Verb& x) {
      using answer = detail::answer_to<Verb>;
      detail::outcome<Verb> result{errc::unknown};
      self_->request(store_, patience, x)
        .receive([&](answer& y) { result = std::move(y); },
                 [&](caf::error& y) {
                   auto status = to_status(y);
                   result = status.code();
                   error_ = status;
                 });
      return result;
    }

    /// Returns the last error.
    [[nodiscard]] const status_error& error() const {
      return error_;
    }

    Factory& factory() {
      return factory_;
    }

    /// Ends the store and opens it again.
    void reopen() {
      close();
      store_ = factory_.open(system_);
    }

    /// Starts a holder of leases. It releases them when it is cancelled.
    [[nodiscard]] lease_holder start_holder() {
      const lease_holder result = system_.spawn<caf::hidden>(
        [](lease_holder::pointer self,
           const store_of<Factory>& store) -> lease_holder::behavior_type {
          return {[self, store](cancel_atom, const caf::error&) {
            caf::anon_send(store, release_lease_request{lease_holder{self}});
          }};
        },
        store_);
      holders_.push_back(result.address());
      return result;
    }

    /// Ends a holder of leases, which releases nothing.
    void kill(const lease_holder& x) {
      self_->send_exit(x, caf::exit_reason::kill);
      self_->wait_for(x);
    }

  private:
    void close() {
      self_->send_exit(store_, caf::exit_reason::user_shutdown);
      self_->wait_for(store_);
      store_ = nullptr;
    }

    struct config : caf::actor_system_config {
      config() {
        set("scheduler.max-threads", 2);
        if constexpr (configures_systems<Factory>)
          Factory::configure(*this);
      }
    };

    config cfg_;
    Factory factory_;
    caf::actor_system system_{cfg_};
    caf::scoped_actor self_{system_};
    store_of<Factory> store_;
    status_error error_{errc::ok, ""};
    std::vector<caf::actor_addr> holders_;
  };

  // -- values and requests ----------------------------------------------------

  static state number(int x) {
    return state::plain(payload::of(x));
  }

  /// Returns a conversation with a number of messages.
  static state talk(int messages) {
    ai::message_log log;
    for (int i = 0; i < messages; ++i)
      log = log.with(ai::user_text("message " + std::to_string(i)));
    return state::conversation(log, {}, {});
  }

  /// Returns the same state with another version of its type.
  static state version(std::uint32_t version, const state& x) {
    return x.with_type(stored_type{"app.memo", version});
  }

  static session_ref at(std::string session, std::string agent = "/agent/a") {
    return {std::move(agent), session_id{std::move(session)}};
  }

  static stored_run run_of(std::string id, std::string session) {
    stored_run result;
    result.id = run_id{std::move(id)};
    result.agent = "/agent/a";
    result.session = session_id{std::move(session)};
    result.owner = "process 1";
    result.beat = std::chrono::hours{1};
    return result;
  }

  static snapshot_id id_of(const state& x) {
    return snapshot_id{to_string(x.id())};
  }

  static snapshot_record record(const session_ref& session,
                                const state& content, std::uint64_t parent) {
    snapshot_record result;
    result.agent = session.agent;
    result.session = session.id;
    result.state = content.id();
    result.id = id_of(content);
    result.parent = parent;
    return result;
  }

  template <class Verb>
  detail::outcome<Verb> ask(const Verb& x) {
    return store(x);
  }

  /// Returns the answer, which must not be an error.
  template <class Verb>
  detail::answer_to<Verb> get(const Verb& x) {
    auto result = store(x);
    if (const auto code = std::get_if<errc>(&result)) {
      ADD_FAILURE() << to_string(*code) << ": " << store.error().what();
      return {};
    }
    return std::get<0>(std::move(result));
  }

  /// Returns the code of the error; `errc::ok` without one.
  template <class Verb>
  errc code(const Verb& x) {
    const auto result = store(x);
    const auto code = std::get_if<errc>(&result);
    return code != nullptr ? *code : errc::ok;
  }

  save_result save(const session_ref& session, const state& content,
                   std::uint64_t parent,
                   append_rule rule = append_rule::at_head) {
    return get(
      save_snapshot_request{record(session, content, parent), content, rule});
  }

  /// Saves a record behind the head of its session.
  save_result append(const snapshot_record& saved, const state& content) {
    return get(save_snapshot_request{saved, content, append_rule::at_head});
  }

  /// Saves what a session works on.
  session_info work_on(const session_ref& session, const state& content,
                       std::uint64_t next_turn,
                       std::vector<session_position> follows = {}) {
    return get(
      save_session_request{session, content, next_turn, std::move(follows)});
  }

  /// Acquires the lease of a session.
  /// @returns its fence.
  std::uint64_t acquire(const session_ref& session, const lease_holder& holder,
                        if_live rule = if_live::refuse) {
    return get(acquire_lease_request{session, holder, "the test", rule}).fence;
  }

  bool release(const lease_holder& holder, const session_ref& session = {}) {
    return get(release_lease_request{holder, session});
  }

  snapshot_record label(const session_ref& session, std::uint64_t sequence,
                        std::vector<std::string> labels) {
    label_snapshot_request x{snapshot_ref{session, sequence}};
    x.add = std::move(labels);
    return get(x);
  }

  /// Saves numbers, each as the child of the one before.
  void save_all(const session_ref& session, const std::vector<int>& numbers) {
    std::uint64_t parent = 0;
    for (const auto x : numbers)
      parent = save(session, number(x), parent).record.sequence;
  }

  snapshot_record read(const session_ref& session, std::uint64_t sequence) {
    return get(get_snapshot_request{snapshot_ref{session, sequence},
                                    detail_level::record})
      .record;
  }

  /// Returns the state of a snapshot.
  state content(const session_ref& session, std::uint64_t sequence) {
    return get(get_snapshot_request{snapshot_ref{session, sequence}}).content;
  }

  /// Returns the code of the error of reading a snapshot.
  errc code(const session_ref& session, std::uint64_t sequence) {
    return code(get_snapshot_request{snapshot_ref{session, sequence}});
  }

  /// Returns the state that a session works on.
  state content(const session_ref& session) {
    return get(get_session_request{session}).content;
  }

  session_info info(const session_ref& session) {
    return get(get_session_request{session}).info;
  }

  /// Returns the names of the past turns, each with its inputs.
  std::string past_turns(const session_ref& session) {
    std::string result;
    for (const auto& x : info(session).past_turns)
      result += x.name.str() + ' ' + std::to_string(x.inputs) + ',';
    return result;
  }

  /// Returns what the first page of a verification finds.
  std::vector<damage> damages() {
    return get(verify_sessions_request{}).damages;
  }

  stored_snapshot restore(const session_ref& session, std::uint64_t sequence) {
    return get(restore_snapshot_request{snapshot_ref{session, sequence}});
  }

  std::vector<std::uint64_t> sequences(const session_ref& session,
                                       bool with_orphans = false) {
    list_snapshots_request x{session};
    x.with_orphans = with_orphans;
    std::vector<std::uint64_t> result;
    for (const auto& y : get(x).snapshots)
      result.push_back(y.record.sequence);
    return result;
  }

  fixture store;
};

TYPED_TEST_SUITE_P(store_contract);

/// Skips a test unless the store is a managed one.
#define TERTULIA_NEEDS_MANAGED_STORE()                                         \
  if constexpr (!TestFixture::managed)                                         \
    GTEST_SKIP() << "the store is not a managed one";                          \
  else

} // namespace tertulia
