// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/ai/generate.hpp>
#include <tertulia/ai/session_flow.hpp>

#include <string>
#include <utility>

namespace tertulia::detail {

/// Lets pass what a client may say.
/// @errors throws `invalid_argument` for what is said in the name of the model:
///         a client that could make up an answer could have tools run; and for
///         a message without content, which a model's server may refuse for as
///         long as it is in the conversation.
void check_messages(const ai::conversation_input& x);

/// Lets pass a conversation that a model can go on with though nobody has said
/// more.
/// @errors throws `invalid_argument` if the model has the last word and no tool
///         of it waits: it would answer itself.
void check_unanswered(const ai::message_log& x);

/// Lets pass what a client may begin a session of a store with.
/// @errors throws `invalid_argument` for an answer that waits for an approval:
///         a client that could make one up could have tools run.
void check_first_words(const state& x);

/// Has an agent let pass no other.
struct with_checked_first_words {
  template <class Context>
  void apply(agent_options<Context>& to) const {
    to.check_initial = check_first_words;
  }
};

} // namespace tertulia::detail

namespace tertulia::ai {

/// Defines a session flow that has a model answer each input: a chat with a
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
/// The stream has the pieces of the answers, the responses of the tools, and
/// the requests of those that wait for a person, which the client answers in
/// the next input (see `interrupts_in`).
///
/// @tparam Custom what the session keeps beside the messages, for the tools.
/// @param what    the model and how it is asked, see `generate`.
/// @param options as for `define_session_flow`, which this is: it is registered
///                as `/session-flow/<name>`.
/// @errors as `define_session_flow`; of a turn: as `generate`, and
///         `invalid_argument` for messages in the name of the model or of the
///         program, for one without content, and for an input without messages
///         unless a tool waits or the model has not the last word. With a store
///         an opening is refused with `invalid_argument` if the client gives a
///         state in which a tool waits for a person.
/// @threads from any thread.
/// @design README §5.18 "Tools".
template <class Custom = nothing, class... Options>
auto define_prompt_agent(runtime& rt, std::string name, prompt what,
                         const Options&... options) {
  return define_session_flow(
    rt, std::move(name),
    [what = std::move(what)](context ctx, flow_session<Custom> sess,
                             flow_responder<nothing> out) -> task<> {
      const auto turn
        = [&](context here, const conversation_input& said) -> task<> {
        detail::check_messages(said);
        if (said.messages.empty()) {
          const auto all = co_await sess.messages();
          detail::check_unanswered(all);
        }
        co_await generate_stream(here, what, out, with_session(sess));
      };
      co_await sess.run(ctx, turn);
    },
    detail::with_checked_first_words{}, options...);
}

} // namespace tertulia::ai
