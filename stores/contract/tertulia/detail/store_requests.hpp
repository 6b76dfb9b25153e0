// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/detail/contract_store.hpp>
#include <tertulia/detail/store_outcome.hpp>
#include <tertulia/store.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

namespace tertulia::detail {

/// Store of a test, and values and requests for it.
class store_requests : public ::testing::Test {
public:
  explicit store_requests(std::unique_ptr<contract_factory> factory)
    : store(std::move(factory)) {}

  [[nodiscard]] bool is_managed() {
    return store.factory().is_managed();
  }

  [[nodiscard]] bool is_durable() {
    return store.factory().is_durable();
  }

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
  outcome<Verb> ask(const Verb& x) {
    return store(x);
  }

  /// Returns the answer, which must not be an error.
  template <class Verb>
  answer_to<Verb> get(const Verb& x) {
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

  contract_store store;
};

} // namespace tertulia::detail
