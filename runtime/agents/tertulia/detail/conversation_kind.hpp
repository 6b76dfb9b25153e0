// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/ai/chat_responder.hpp>
#include <tertulia/ai/flow_session.hpp>
#include <tertulia/descriptor.hpp>
#include <tertulia/detail/agent_kind.hpp>
#include <tertulia/detail/compiled_json.hpp>

#include <memory>
#include <type_traits>
#include <utility>

namespace tertulia::detail {

// -- the types, derived from the body -----------------------------------------

template <class Signature>
struct conversation_signature;

/// Types of the body of a chat agent.
template <class Custom, class Status>
struct conversation_signature<task<>(context, ai::chat_session<Custom>,
                                     input<ai::conversation_input>,
                                     ai::chat_responder<Status>)> {
  using custom_type = Custom;
  using status_type = Status;
  using init_type = ai::conversation_init<Custom>;
  using in_type = ai::conversation_input;
  using out_type = ai::agent_response<Custom>;
  using stream_type = ai::stream_chunk<Status>;

  static constexpr bool is_flow = false;
};

/// Types of the body of a session flow.
template <class Custom, class Status>
struct conversation_signature<task<>(context, ai::flow_session<Custom>,
                                     ai::flow_responder<Status>)> {
  using custom_type = Custom;
  using status_type = Status;
  using init_type = ai::conversation_init<Custom>;
  using in_type = ai::conversation_input;
  using out_type = ai::session_flow_response<Custom>;
  using stream_type = ai::stream_chunk<Status>;

  static constexpr bool is_flow = true;
};

template <class Body>
using types_of_conversation = conversation_signature<
  typename callable_signature<std::decay_t<Body>>::type>;

/// Function that can be the body of a chat agent: a coroutine `task<>(context,
/// ai::chat_session<Custom>, input<ai::conversation_input>,
/// ai::chat_responder<Status>)`.
template <class Body>
concept chat_agent_body = requires {
  requires !types_of_conversation<Body>::is_flow;
};

/// Function that can be the body of a session flow: a coroutine
/// `task<>(context, ai::flow_session<Custom>, ai::flow_responder<Status>)`.
template <class Body>
concept session_flow_body = requires {
  requires types_of_conversation<Body>::is_flow;
};

template <class Body>
consteval bool check_conversation_values() {
  using types = types_of_conversation<Body>;
  return check_json<typename types::custom_type, typename types::status_type>();
}

/// Fails to compile for a function that cannot be the body of a chat agent, and
/// explains why.
template <class Body>
consteval bool check_chat_agent_body() {
  static_assert(
    chat_agent_body<Body>,
    "the body of a chat agent is a coroutine task<>(context, "
    "ai::chat_session<Custom>, input<ai::conversation_input>, "
    "ai::chat_responder<Status>), or a function object with one such "
    "call operator, const and no template");
  if constexpr (chat_agent_body<Body>)
    return check_conversation_values<Body>();
  return false;
}

/// Fails to compile for a function that cannot be the body of a session flow,
/// and explains why.
template <class Body>
consteval bool check_session_flow_body() {
  static_assert(session_flow_body<Body>,
                "the body of a session flow is a coroutine task<>(context, "
                "ai::flow_session<Custom>, ai::flow_responder<Status>), or a "
                "function object with one such call operator, const and no "
                "template");
  if constexpr (session_flow_body<Body>)
    return check_conversation_values<Body>();
  return false;
}

// -- the action ---------------------------------------------------------------

/// Action with sessions of messages, a custom value and artifacts.
/// @design docs/genkit.md 003, 004.
template <class Custom>
class chat_conversation : public conversation_action {
public:
  using init_type = ai::conversation_init<Custom>;

  chat_conversation(std::shared_ptr<const descriptor> info,
                    session_policy policy)
    : conversation_action(std::move(info), std::move(policy),
                          access::session_type<ai::chat_session<Custom>>()) {}

  [[nodiscard]] session_start
  make_session_start(payload init, const open_options& options) const override {
    const auto* given = init.template get_if<init_type>();
    const auto has_state = given != nullptr && given->state.has_value();
    auto chosen = options;
    if (given != nullptr && given->snapshot_id) {
      if (chosen.snapshot && chosen.snapshot != given->snapshot_id)
        throw status_error{errc::invalid_argument,
                           "$.snapshotId: another snapshot was chosen already"};
      chosen.snapshot = given->snapshot_id;
    }
    auto result = plain_session_start(*this, chosen, has_state);
    if (has_state && policy.store && !policy.check_initial)
      throw status_error{errc::failed_precondition,
                         this->info()->key
                           + " keeps its states in a store and takes none from "
                             "its clients"};
    if (has_state)
      result.initial = ai::to_state(*given->state);
    // The body gets the snapshot id, regardless of how the client has passed
    // it.
    if (chosen.snapshot) {
      init_type told;
      told.snapshot_id = chosen.snapshot;
      init = payload::of(std::move(told));
    }
    result.init = std::move(init);
    return result;
  }

  [[nodiscard]] state first_state() const override {
    return state::conversation({}, payload::of(Custom{}), {},
                               stored_type::of<Custom>());
  }

  [[nodiscard]] payload check_custom(payload value) const override {
    return std::move(value).template as<Custom>();
  }

  [[nodiscard]] payload resume_input() const override {
    return payload::of(ai::conversation_input{});
  }

  [[nodiscard]] payload client_state(const state& x) const override {
    return payload::of(ai::from_state<Custom>(x));
  }
};

/// Makes the output of a chat agent or a session flow.
template <class Output, class Custom>
payload conversation_output(invocation_result end) {
  auto& last = end.summary.last;
  Output result;
  result.session_id = std::move(last.id);
  result.state = ai::from_state<Custom>(last.content);
  if constexpr (requires { result.snapshot_ids; })
    result.snapshot_ids = std::move(end.summary.snapshots);
  else
    result.snapshot_id = std::move(end.snapshot);
  result.finish_reason = end.finish_reason;
  return payload::of(std::move(result));
}

/// Kind of the chat agents and session flows.
template <class Body>
struct conversation_kind : types_of_conversation<Body> {
  using types = types_of_conversation<Body>;
  using custom_type = typename types::custom_type;
  using base_type = chat_conversation<custom_type>;
  using body_type = Body;

  static payload check_init(payload init, const action&) {
    return std::move(init).template as<typename types::init_type>();
  }

  static task<payload> start(const Body& body, context ctx, payload) {
    auto& owner = access::owner(ctx);
    using status = typename types::status_type;
    constexpr auto output
      = conversation_output<typename types::out_type, custom_type>;
    if constexpr (types::is_flow) {
      const auto chat = access::make<ai::flow_session<custom_type>>(owner);
      const auto out = access::make<ai::flow_responder<status>>(ctx);
      return run_conversation(ctx, body(ctx, chat, out), output);
    } else {
      const auto chat = access::make<ai::chat_session<custom_type>>(owner);
      const auto in = access::make<input<ai::conversation_input>>(owner);
      const auto out = access::make<ai::chat_responder<status>>(ctx);
      return run_conversation(ctx, body(ctx, chat, in, out), output);
    }
  }
};

/// Returns a batch of one chunk.
template <class Status>
payload one_chunk(ai::stream_chunk<Status> x) {
  chunks<ai::stream_chunk<Status>> batch;
  batch.push_back(std::move(x));
  return payload::of(std::move(batch));
}

/// Sets the functions that make the chunks of a conversation itself.
template <class Status>
void set_own_chunks(session_policy& of) {
  of.notice = [](const snapshot_id& id) {
    ai::stream_chunk<Status> result;
    result.snapshot_created = id;
    return one_chunk(std::move(result));
  };
  of.custom_chunk = [](const json& patch) {
    ai::stream_chunk<Status> result;
    result.custom_patch = patch;
    return one_chunk(std::move(result));
  };
}

} // namespace tertulia::detail
