// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/agent.hpp>
#include <tertulia/agent_responder.hpp>
#include <tertulia/agent_session.hpp>
#include <tertulia/detail/conversation_action.hpp>
#include <tertulia/detail/coroutine_kind.hpp>

#include <memory>
#include <type_traits>
#include <utility>

namespace tertulia::detail {

// -- the types of an agent, derived from its body -----------------------------

template <class Result>
struct agent_out {
  using type = Result;
};

template <>
struct agent_out<void> {
  using type = nothing;
};

template <class Out>
struct agent_out<agent_result<Out>> {
  using type = Out;
};

template <class Signature>
struct agent_signature;

template <class Result, class State, class In, class Stream>
struct agent_signature<task<Result>(context, agent_session<State>, input<In>,
                                    agent_responder<Stream>)> {
  using result_type = Result;
  using state_type = State;
  using init_type = State;
  using in_type = In;
  using value_type = typename agent_out<Result>::type;
  using out_type = agent_output<State, value_type>;
  using stream_type = Stream;
};

template <class Body>
using types_of_agent = agent_signature<typename callable_signature<Body>::type>;

/// Function that can be the body of an agent: a coroutine
/// `task<agent_result<Out>>(context, agent_session<State>, input<In>,
/// agent_responder<Stream>)`, or one that returns `task<Out>` or `task<>`.
template <class Body>
concept agent_body = requires {
  typename types_of_agent<std::decay_t<Body>>::state_type;
};

/// Fails to compile for a function that cannot be the body of an agent, and
/// explains why.
template <class Body>
consteval bool check_agent_body() {
  static_assert(
    agent_body<Body>,
    "the body of an agent is a coroutine task<agent_result<Out>>(context, "
    "agent_session<State>, input<In>, agent_responder<Stream>), or one that "
    "returns "
    "task<Out> or task<>, or a function object with one such call operator, "
    "const and no template");
  if constexpr (agent_body<Body>) {
    using types = types_of_agent<std::decay_t<Body>>;
    return check_json<typename types::state_type, typename types::in_type,
                      typename types::value_type,
                      typename types::stream_type>();
  }
  return false;
}

// -- the action ---------------------------------------------------------------

/// Returns the part of the options that all conversations have in common.
/// @errors throws `invalid_argument` for a snapshot together with an initial
///         state; `failed_precondition` for a snapshot or a session without a
///         store.
session_start plain_session_start(const conversation_action& conversation,
                                  const open_options& options,
                                  bool has_initial_state);

/// Action with sessions of a plain state: docs/genkit.md 001 §7, 000.
template <class State>
class plain_conversation : public conversation_action {
public:
  plain_conversation(std::shared_ptr<const descriptor> info,
                     session_policy policy)
    : conversation_action(std::move(info), std::move(policy),
                          access::session_type<agent_session<State>>()) {}

  [[nodiscard]] session_start
  make_session_start(payload init, const open_options& options) const override {
    auto result = plain_session_start(*this, options, static_cast<bool>(init));
    if (init)
      result.initial = state::plain(std::move(init), type());
    return result;
  }

  [[nodiscard]] state first_state() const override {
    return state::plain(payload::of(State{}), type());
  }

  [[nodiscard]] payload check_custom(payload value) const override {
    return std::move(value).template as<State>();
  }

  [[nodiscard]] payload client_state(const state& x) const override {
    return x.custom();
  }

private:
  [[nodiscard]] static stored_type type() noexcept {
    return stored_type::of<State>();
  }
};

/// Runs the body of an agent and makes its output. Depends on the types of the
/// agent only, so that agents of the same types share it.
template <class Types>
struct agent_run {
  using result_type = typename Types::result_type;
  using state_type = typename Types::state_type;

  static task<payload> of(context ctx, task<result_type> body) {
    typename Types::out_type result;
    if constexpr (std::is_void_v<result_type>) {
      co_await task<>{std::move(body)};
    } else {
      auto said = co_await task<result_type>{std::move(body)};
      if constexpr (is_a<result_type, agent_result>) {
        result.output = std::move(said.output);
        result.artifacts = std::move(said.artifacts);
      } else {
        result.output = std::move(said);
      }
    }
    auto end = co_await finish_invocation(ctx);
    auto& summary = end.summary;
    auto last = summary.last.content.custom();
    result.session_id = std::move(summary.last.id);
    result.state = std::move(last).template take<state_type>();
    result.snapshot_ids = std::move(summary.snapshots);
    result.finish_reason = end.finish_reason;
    co_return payload::of(std::move(result));
  }
};

/// Kind of the agents with a state of their own type.
template <class Body>
struct agent_kind : types_of_agent<Body> {
  using types = types_of_agent<Body>;
  using state_type = typename types::state_type;
  using base_type = plain_conversation<state_type>;
  using body_type = Body;

  static payload check_init(payload init, const action&) {
    return std::move(init).template as<state_type>();
  }

  static task<payload> start(const Body& body, context ctx, payload) {
    auto& owner = access::owner(ctx);
    const auto chat = access::make<agent_session<state_type>>(owner);
    const auto in = access::make<input<typename types::in_type>>(owner);
    const auto out
      = access::make<agent_responder<typename types::stream_type>>(ctx);
    return agent_run<types>::of(ctx, body(ctx, chat, in, out));
  }
};

} // namespace tertulia::detail
