// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/ai/conversation.hpp>
#include <tertulia/connection.hpp>
#include <tertulia/detail/access.hpp>

#include <string>
#include <utility>
#include <vector>

namespace tertulia::ai {

/// Open connection to a chat agent or a session flow, for threads.
///
/// ```
/// auto talk = chat.stream_bidi();
/// talk.send_text("Hello!");
/// for (auto& item : talk.responses())
///   if (item.chunk)
///     std::cout << item.chunk->text();
/// ```
///
/// @tparam Response output of the connection.
/// @threads  as `tertulia::connection`.
/// @lifetime as `tertulia::connection`: dropping an unfinished one cancels the
///           conversation's invocation.
/// @design   docs/sessions.md#sessions; docs/genkit.md 003 §4.3, 004 §4.3.
template <class Status, class Response>
class conversation_connection
  : public connection<conversation_input, Response, stream_chunk<Status>> {
public:
  using connection_type
    = connection<conversation_input, Response, stream_chunk<Status>>;

  /// Sends the messages of a turn.
  /// @errors as `send`.
  void send_messages(std::vector<message> messages) {
    this->send(std::move(messages));
  }

  /// Sends one text message of the user.
  /// @errors as `send`.
  void send_text(std::string text) {
    std::vector<message> messages;
    messages.push_back(user_text(std::move(text)));
    this->send(std::move(messages));
  }

private:
  friend detail::access;

  explicit conversation_connection(connection_type talk)
    : connection_type(std::move(talk)) {}
};

} // namespace tertulia::ai
