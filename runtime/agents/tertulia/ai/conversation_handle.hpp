// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/agent.hpp>
#include <tertulia/ai/conversation_connection.hpp>
#include <tertulia/ai/interrupt.hpp>
#include <tertulia/bidi_action.hpp>
#include <tertulia/detail/access.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tertulia::detail {

/// Returns the key of an action on the store of a conversation:
/// `/snapshot-store/<name>/<verb>`.
[[nodiscard]] std::string store_action_key(const std::string& conversation,
                                           const std::string& verb);

/// Reads the text and the open questions of the last answer in a conversation.
void recall_answer(const ai::message_log& from, std::string& text,
                   std::vector<ai::part>& questions);

} // namespace tertulia::detail

namespace tertulia::ai {

/// Initial state, for clients that keep states themselves. Not together with
/// `with_snapshot_id`, nor with a store unless the conversation was defined
/// with `with_client_states`. docs/genkit.md 003 §4.2, 004 §4.2.
template <class Custom>
struct with_state {
  explicit with_state(conversation_state<Custom> state)
    : state(std::move(state)) {}

  void apply(client_options<conversation_init<Custom>>& to) const {
    if (to.init)
      throw status_error{errc::invalid_argument,
                         "an initial state is given twice"};
    to.init.emplace().state = state;
  }

  conversation_state<Custom> state;
};

/// Requests the changes of the custom value as chunks with a `custom_patch`,
/// see `custom_view`. Only for chat agents and session flows.
struct with_custom_deltas {
  template <class Custom>
  void apply(client_options<conversation_init<Custom>>& to) const {
    to.connection.custom_deltas = true;
  }

  /// For an action whose types are not known here.
  void apply(client_options<json>& to) const {
    to.connection.custom_deltas = true;
  }
};

/// Limits the messages in the state of the output to the last ones, for all
/// clients of the run. For a client that has the others, or finds them in the
/// store: the cost of the output then does not grow with the conversation. Only
/// for chat agents and session flows.
struct with_output_messages {
  /// @param count at least 1: `run_text` reads the answer of a turn that is
  ///              over from the last message.
  /// @errors throws `invalid_argument`.
  explicit with_output_messages(std::uint64_t count) : count(count) {
    if (count == 0)
      throw status_error{errc::invalid_argument,
                         "the number of messages must be positive"};
  }

  template <class Custom>
  void apply(client_options<conversation_init<Custom>>& to) const {
    to.connection.output_messages = count;
  }

  /// For an action whose types are not known here.
  void apply(client_options<json>& to) const {
    to.connection.output_messages = count;
  }

  std::uint64_t count;
};

/// Result of `conversation_handle::run_text`.
template <class Response>
struct conversation_result {
  /// Text of the model in this turn.
  std::string text;
  /// Requests of tools that wait for a person; answered in the next turn of the
  /// session.
  std::vector<part> questions;
  tertulia::session_id session_id;
  /// Snapshot with the state at the end of the turn; empty without one.
  tertulia::snapshot_id snapshot_id;
  /// Reason for which the turn ended; empty if the program gave none.
  std::optional<ai::finish_reason> finish_reason;
  /// As `connection::trace_id`.
  std::string trace_id;
  Response output;
};

/// Handle of a chat agent or session flow, returned by `define_chat_agent` and
/// `define_session_flow`.
///
/// @threads  all members; cheap to copy.
/// @lifetime as `bidi_action`.
/// @design   docs/sessions.md#sessions; docs/genkit.md 003 §4.2, 004 §4.2.
template <class Status, class Custom, class Response>
class conversation_handle
  : public bidi_action<conversation_init<Custom>, conversation_input, Response,
                       stream_chunk<Status>> {
public:
  using status_type = Status;
  using custom_type = Custom;
  using action_type = bidi_action<conversation_init<Custom>, conversation_input,
                                  Response, stream_chunk<Status>>;
  using state_type = conversation_state<Custom>;
  using snapshot_type = typename Response::snapshot_type;

  /// Makes a handle from a handle of its action, such as one of another node.
  explicit conversation_handle(action_type what)
    : action_type(std::move(what)) {}

  /// Opens a connection for threads and waits until the session is ready.
  ///
  /// @param options any of `with_state`, `with_snapshot_id`, `with_session_id`,
  ///                `with_take_over`, `with_custom_deltas`,
  ///                `with_output_messages`, and those of
  ///                `bidi_action::stream_bidi`.
  /// @errors as there; `not_found` for an unknown snapshot; `data_loss` for a
  ///         damaged one; `failed_precondition` for a session or a snapshot
  ///         without a store that could contain it, for an initial state if a
  ///         store keeps the states, for an id that occurs in several sessions,
  ///         for a state that is newer than this program or of another type, or
  ///         if the session has a live invocation; errors of the store and of
  ///         migrations.
  template <class... Options>
  [[nodiscard]] conversation_connection<Status, Response>
  stream_bidi(const Options&... options) const {
    return detail::access::make<conversation_connection<Status, Response>>(
      action_type::stream_bidi(options...));
  }

  /// Returns the snapshots of a session, oldest first, branches included.
  /// Blocks.
  /// @errors `not_found` without a store; `data_loss`; errors of the store;
  ///         those of `stream_bidi`.
  [[nodiscard]] std::vector<snapshot_type> snapshots(session_id session) const {
    return ask_store<std::vector<snapshot_type>>(
      "listSnapshots", session_query{std::move(session)});
  }

  /// Makes a snapshot the one from which its session continues, and returns it.
  /// Blocks.
  /// @param session needed only if the id occurs in several sessions.
  /// @errors `not_found`, also without a store; `failed_precondition` if the
  ///         session is live; `data_loss`; errors of the store; those of
  ///         `stream_bidi`.
  // NOLINTNEXTLINE(modernize-use-nodiscard): it acts
  snapshot_type restore(snapshot_id snapshot, session_id session = {}) const {
    return ask_store<snapshot_type>("restoreSnapshot",
                                    snapshot_query{std::move(snapshot),
                                                   std::move(session)});
  }

  /// Takes one turn: sends one text message of the user, waits for the answer
  /// and the end of the conversation's invocation. Blocks.
  /// @param options as for `stream_bidi`; `with_session_id` continues a
  ///                session. With `with_turn_id`, a turn that the session has
  ///                already is not taken again: one that was cut off is
  ///                finished, and one that is over gives its result again.
  /// @errors as `stream_bidi`, and the error that ended the conversation;
  ///         `already_exists` if the session has gone on after the named turn.
  template <class... Options>
  [[nodiscard]] conversation_result<Response>
  run_text(std::string text, const Options&... options) const {
    auto talk = stream_bidi(options...);
    const auto found = talk.turn_found();
    if (found == turn_progress::not_begun)
      talk.send_text(std::move(text));
    auto result = finish(std::move(talk));
    if (found == turn_progress::past)
      throw status_error{errc::already_exists,
                         "the session has gone on after this turn"};
    if (found == turn_progress::over)
      detail::recall_answer(result.output.state.messages, result.text,
                            result.questions);
    return result;
  }

  /// Finishes a turn that a crash, a lost node or an error has cut off, and
  /// waits for its end. Tools whose responses are stored do not run again. The
  /// result has no text if no turn was cut off. Blocks.
  /// @param options as for `stream_bidi`.
  /// @errors as `run_text`.
  template <class... Options>
  [[nodiscard]] conversation_result<Response>
  resume(session_id session, const Options&... options) const {
    return finish(stream_bidi(with_session_id{std::move(session)},
                              with_resume{}, options...));
  }

private:
  /// Closes the input and reads everything up to the end.
  static conversation_result<Response>
  finish(conversation_connection<Status, Response> talk) {
    conversation_result<Response> result;
    result.session_id = talk.session();
    result.trace_id = talk.trace_id();
    talk.close();
    do {
      for (const auto& item : talk.responses())
        if (item.chunk && !item.chunk->aggregated) {
          result.text += item.chunk->text();
          for (auto& asked : interrupts_in(item.chunk->content))
            result.questions.push_back(std::move(asked));
        }
    } while (!talk.finished());
    result.snapshot_id = talk.last_snapshot();
    result.finish_reason = talk.finish_reason();
    result.output = talk.output();
    return result;
  }

  template <class Result, class Query>
  Result ask_store(const char* verb, Query query) const {
    return this
      ->template neighbor<Query, Result>(
        detail::store_action_key(this->key(), verb))
      .stream_bidi(with_all_inputs<Query>{std::move(query)})
      .output();
  }
};

} // namespace tertulia::ai

// Compiled once, in conversation_handle.cpp: connections to conversations
// without a custom value and a status, which are most of them.
#define TERTULIA_COMPILED_CONVERSATION(instance, response)                     \
  instance class tertulia::connection<                                         \
    tertulia::ai::conversation_input, response,                                \
    tertulia::ai::stream_chunk<tertulia::nothing>>;                            \
  instance class tertulia::ai::conversation_connection<tertulia::nothing,      \
                                                       response>;

#define TERTULIA_COMPILED_CONVERSATIONS(instance)                              \
  instance class tertulia::detail::chunk_cursor<                               \
    tertulia::ai::stream_chunk<tertulia::nothing>>;                            \
  instance class tertulia::response_range<                                     \
    tertulia::ai::stream_chunk<tertulia::nothing>>;                            \
  TERTULIA_COMPILED_CONVERSATION(                                              \
    instance, tertulia::ai::agent_response<tertulia::nothing>)                 \
  TERTULIA_COMPILED_CONVERSATION(                                              \
    instance, tertulia::ai::session_flow_response<tertulia::nothing>)

TERTULIA_COMPILED_CONVERSATIONS(extern template)
