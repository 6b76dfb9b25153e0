// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/ai/conversation_connection.hpp>
#include <tertulia/bidi_action.hpp>
#include <tertulia/detail/access.hpp>

#include <utility>

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

  /// Opens a connection for threads and waits until the session is ready.
  ///
  /// @param options any of `with_state`, `with_snapshot_id`, `with_session_id`,
  ///                `with_take_over`, and those of `bidi_action::stream_bidi`.
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

private:
  friend detail::access;

  explicit conversation_handle(action_type what)
    : action_type(std::move(what)) {}
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
