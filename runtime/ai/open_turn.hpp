// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/ai/message_log.hpp>
#include <tertulia/open.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace tertulia::ai {

/// State of one tool request of an answer.
struct tool_call {
  /// Index of the request among the parts of the answer.
  std::size_t part = 0;
  /// Replies of people to the tool, in the order of its questions.
  std::vector<json> replies;
  /// True if the tool has to be run.
  bool due = true;
  /// Question of the tool that is not answered yet.
  std::optional<json> question;
  /// Response for the model.
  std::optional<ai::part> response;
};

/// Answer that requests tools, with the states of its calls.
///
/// @threads a value.
struct open_turn {
  /// The conversation before the answer.
  message_log before;
  message answer;
  std::vector<tool_call> calls;
  /// Messages after the answer, without the parts for its tools.
  std::vector<message> rest;

  [[nodiscard]] const tool_request& request(const tool_call& x) const {
    return *answer.content[x.part].as_request();
  }

  /// Sets the response of `x`.
  void respond(tool_call& x, json output) const;

  /// Returns whether a call waits for a person.
  [[nodiscard]] bool waits() const;

  /// Returns the answer in its stored form while a call waits: with the
  /// questions and the available outputs as metadata.
  [[nodiscard]] message waiting_answer() const;

  /// Returns the answer in its stored form when every call has its response.
  [[nodiscard]] message final_answer() const;

  /// Returns the message with all responses, in the order of the requests.
  /// @pre every call has its response.
  [[nodiscard]] message responses() const;
};

/// Returns an open turn for a new answer. Requests that have the same name and
/// reference get distinct references.
open_turn new_turn(message_log before, message answer);

/// Returns the last answer of a conversation, with the later replies to its
/// tools, if it requests tools that have not all responded; empty otherwise.
/// @errors throws `already_exists` with the path for a reply to a question that
///         was answered before, `invalid_argument` for one to a tool that did
///         not ask.
std::optional<open_turn> find_open_turn(const message_log& all);

/// Returns the name of a call, which is the same in every run of its turn.
/// @param of session of the turn.
std::string call_id_of(const session_link& of, const open_turn& turn,
                       const tool_call& call);

/// Returns an error as output of a tool: `{"error":{"code":…,"message":…}}`.
json as_output(const status_error& x);

} // namespace tertulia::ai
