// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/ai/conversation.hpp>
#include <tertulia/detail/option_family.hpp>
#include <tertulia/detail/run_policy.hpp>
#include <tertulia/snapshot_callback.hpp>
#include <tertulia/status.hpp>

#include <concepts>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

// Options for the definition of an agent, a chat agent or a session flow:
//
//   define_agent(rt, "chat", body, with_snapshot_store(store),
//                   with_snapshot_callback(snapshot_always{}));
//
// Design: docs/sessions.md#sessions; docs/genkit.md 001 §2.3, 000 §3.1,
// 003 §4.1, 004 §4.1.

namespace tertulia {

using detail::save_failure;

/// All options, with their defaults.
/// @tparam Context argument of a callback.
template <class Context>
struct agent_options {
  snapshot_store store;
  /// As `session_policy::check_initial`.
  std::function<void(const state&)> check_initial;
  std::function<void(const payload&)> check_input;
  std::function<bool(const detail::snapshot_moment&)> wanted;
  save_failure on_failure = save_failure::fails_turn;
  caf::timespan store_within = std::chrono::seconds{30};
  detail::run_policy runs;
  std::string description;
  std::vector<detail::migration> migrations;
};

/// Store for sessions and snapshots. Without one they last as long as the
/// connection.
struct with_snapshot_store {
  explicit with_snapshot_store(snapshot_store store)
    : store(std::move(store)) {}

  template <class Context>
  void apply(agent_options<Context>& to) const {
    if (!store)
      throw status_error{errc::invalid_argument,
                         "the handle of the store is empty"};
    to.store = store;
  }

  snapshot_store store;
};

/// Condition for making a snapshot; requires a store. The callback runs on the
/// session's actor, for many sessions at once, so its captures must be
/// thread-safe. If it throws, the turn fails.
template <class Callback>
struct with_snapshot_callback {
  explicit with_snapshot_callback(Callback callback)
    : callback(std::move(callback)) {}

  template <class Context>
  requires std::predicate<const Callback&, const Context&>
  void apply(agent_options<Context>& to) const {
    to.wanted = [fn = callback](const detail::snapshot_moment& moment) {
      return static_cast<bool>(fn(detail::access::make<Context>(moment)));
    };
  }

  Callback callback;
};

/// Effect of a snapshot that cannot be stored; by default the turn fails.
struct with_save_failure {
  explicit with_save_failure(save_failure effect) : effect(effect) {}

  template <class Context>
  void apply(agent_options<Context>& to) const {
    to.on_failure = effect;
  }

  save_failure effect;
};

/// Lets the clients of a chat agent or a session flow begin a new session of
/// its store with a state of their own (`ai::with_state`); otherwise that is
/// `failed_precondition`. A session that the store contains continues from its
/// stored state.
struct with_client_states {
  template <class Context>
  void apply(agent_options<Context>& to) const {
    if (!to.check_initial)
      to.check_initial = [](const state&) {};
  }
};

namespace ai {

/// Check of the inputs of a chat agent or a session flow, for example of their
/// length or their words, before the body gets them. The function throws a
/// `status_error` for an input that is not taken: `send` throws it, and the run
/// goes on. A client of another node hears it as the end of its run.
///
/// ```
/// ai::with_input_check([](const ai::conversation_input& x) {
///   if (x.messages.size() > 1)
///     throw status_error{errc::invalid_argument, "one message at a time"};
/// })
/// ```
///
/// @threads the function is called by many threads at once, and more than once
///          for an input, so it has no effects.
struct with_input_check {
  explicit with_input_check(std::function<void(const conversation_input&)> fn)
    : check(std::move(fn)) {}

  template <class Context>
  void apply(agent_options<Context>& to) const {
    to.check_input = [fn = check](const payload& x) {
      const auto* input = x.get_if<conversation_input>();
      if (input == nullptr)
        throw status_error{errc::unimplemented,
                           "the check of inputs is for messages"};
      fn(*input);
    };
  }

  std::function<void(const conversation_input&)> check;
};

} // namespace ai

/// Longest wait for the store; 30 s by default. Must be positive.
struct with_store_timeout {
  explicit with_store_timeout(caf::timespan within) : within(within) {}

  template <class Context>
  void apply(agent_options<Context>& to) const {
    if (within.count() <= 0)
      throw status_error{errc::invalid_argument,
                         "a wait for the store must be positive"};
    to.store_within = within;
  }

  caf::timespan within;
};

/// Migration of stored states from an older version of their type to the next
/// one: a function that changes the JSON of the value, as version `from` wrote
/// it, into the form that version `from + 1` reads. The given steps lead, one
/// after the other, from the oldest readable version to that of the type
/// (`version_of`). For chat agents and session flows the value is the custom
/// one.
///
/// ```
/// with_migration(1, [](json& x) { x["language"] = "en"; })
/// ```
///
/// A step is called when a state is loaded, possibly for many sessions at once
/// and more than once for the same state, because the stored state does not
/// change until the session is saved. An exception of a step fails the loading.
///
/// @design docs/sessions.md#states-that-evolve.
struct with_migration {
  with_migration(std::uint32_t from, std::function<void(json&)> step)
    : from(from), step(std::move(step)) {}

  template <class Context>
  void apply(agent_options<Context>& to) const {
    to.migrations.emplace_back(from, step);
  }

  std::uint32_t from;
  std::function<void(json&)> step;
};

/// Description for people; part of the descriptor.
struct with_description {
  explicit with_description(std::string text) : text(std::move(text)) {}

  template <class Context>
  void apply(agent_options<Context>& to) const {
    to.description = text;
  }

  std::string text;
};

namespace detail {

template <class Context, class... Options>
agent_options<Context> gather_agent(const Options&... options) {
  agent_options<Context> result;
  (apply_option(options, result), ...);
  if (result.wanted && !result.store)
    throw status_error{errc::invalid_argument,
                       "a snapshot callback needs a store"};
  return result;
}

/// Returns the part of the options that the engine needs.
/// @errors throws `invalid_argument` for migrations that do not form a chain.
template <class Context>
session_policy policy_of(agent_options<Context> x) {
  session_policy result;
  result.schema = state_schema{stored_type::of<typename Context::value_type>(),
                               std::move(x.migrations)};
  result.store = std::move(x.store);
  result.check_initial = std::move(x.check_initial);
  result.check_input = std::move(x.check_input);
  result.wanted = std::move(x.wanted);
  result.on_failure = x.on_failure;
  result.store_within = x.store_within;
  result.runs = x.runs;
  return result;
}

} // namespace detail

} // namespace tertulia
