// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/ai/generate.hpp>
#include <tertulia/ai/session_flow.hpp>

#include <string>
#include <utility>

namespace tertulia::detail {

/// Checks the messages of a client.
/// @errors throws `invalid_argument` for a message that comes neither from the
///         user nor from a tool: a client that could forge an answer could have
///         tools run; and for a message without content, which a model's server
///         may refuse as long as it is in the conversation.
void check_messages(const ai::conversation_input& x);

/// Checks that a model can continue a conversation without a new message.
/// @errors throws `invalid_argument` if the last message is from the model and
///         none of its tools waits: the model would answer itself.
void check_unanswered(const ai::message_log& x);

/// Checks the state with which a client begins a session of a store.
/// @errors throws `invalid_argument` for an answer that waits for an approval:
///         a client that could forge one could have tools run.
void check_initial_messages(const state& x);

/// Option of an agent that rejects other initial states.
struct with_initial_message_check {
  template <class Context>
  void apply(agent_options<Context>& to) const {
    to.check_initial = check_initial_messages;
  }
};

/// Defines a prompt agent; see `ai::define_prompt_agent`.
template <class Custom>
ai::session_flow<nothing, Custom>
define_prompt_agent(runtime& rt, std::string name, ai::prompt base_prompt,
                    agent_options<ai::snapshot_context<Custom>> chosen) {
  return define_session_flow(
    rt, std::move(name),
    [base_prompt
     = std::move(base_prompt)](context ctx, ai::flow_session<Custom> sess,
                               ai::flow_responder<nothing> out) -> task<> {
      const auto turn
        = [&](context inner, const ai::conversation_input& input) -> task<> {
        check_messages(input);
        if (input.messages.empty()) {
          const auto all = co_await sess.messages();
          check_unanswered(all);
        }
        co_await ai::generate_stream(inner, base_prompt, out,
                                     ai::with_session(sess));
      };
      co_await sess.run_turns(ctx, turn);
    },
    std::move(chosen));
}

// Compiled once, in prompt_agent.cpp.
extern template ai::session_flow<nothing, nothing> define_prompt_agent<nothing>(
  runtime& rt, std::string name, ai::prompt base_prompt,
  agent_options<ai::snapshot_context<nothing>> chosen);

} // namespace tertulia::detail

namespace tertulia::ai {

/// Defines a session flow in which a model answers each input: a chat with a
/// system prompt and tools, in a few lines.
///
/// ```
/// auto concierge = ai::define_prompt_agent(
///   rt, "concierge",
///   ai::prompt{model, ai::with_system("You help the guests of a hotel."),
///              ai::with_tools(book, weather)},
///   tertulia::with_snapshot_store(store));
/// ```
///
/// The stream contains the chunks of the answers, the responses of the tools,
/// and the requests of tools that wait for a person, which the client answers
/// in the next input (see `interrupts_in`).
///
/// @tparam Custom custom value of the session, for the tools.
/// @param base_prompt the model with its options, see `generate`.
/// @param options as for `define_session_flow`, which is called: the flow is
///                registered as `/session-flow/<name>`.
/// @errors as `define_session_flow`; of a turn: as `generate`, and
///         `invalid_argument` for messages in the name of the model or of the
///         program, for one without content, and for an input without messages
///         unless a tool waits or the last message is not from the model. With
///         a store, a connection is refused with `invalid_argument` if the
///         state of the client contains a tool that waits for a person.
/// @threads from any thread.
/// @design docs/tools.md#tools.
template <class Custom = nothing, class... Options>
auto define_prompt_agent(runtime& rt, std::string name, prompt base_prompt,
                         const Options&... options) {
  return detail::define_prompt_agent<Custom>(
    rt, std::move(name), std::move(base_prompt),
    detail::gather_agent<snapshot_context<Custom>>(
      detail::with_initial_message_check{}, options...));
}

} // namespace tertulia::ai
