// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/ai/message_log.hpp>

#include <cstddef>
#include <optional>
#include <vector>

namespace tertulia::ai {

/// What becomes of one tool request of an answer.
struct tool_call {
  /// Which part of the answer.
  std::size_t part = 0;
  /// What people have said to it, in the order of its questions.
  std::vector<json> said;
  /// Whether it is to be run.
  bool due = true;
  /// The question that nobody has answered yet.
  std::optional<json> question;
  /// What goes back to the model.
  std::optional<ai::part> response;
};

/// An answer that asks for tools, and what became of that.
///
/// @threads a value.
struct open_turn {
  /// The conversation before the answer.
  message_log before;
  message answer;
  std::vector<tool_call> calls;
  /// What was said behind the answer, without what is for its tools.
  std::vector<message> rest;

  [[nodiscard]] const tool_request& request(const tool_call& x) const {
    return *answer.content[x.part].as_request();
  }

  /// Gives `x` its response.
  void respond(tool_call& x, json output) const;

  /// Whether a call waits for a person.
  [[nodiscard]] bool waits() const;

  /// The answer as it is kept while a call waits: with the questions, and with
  /// the outputs that are there already, as metadata.
  [[nodiscard]] message waiting_answer() const;

  /// The answer as it is kept when every call has its response.
  [[nodiscard]] message settled_answer() const;

  /// The message with all responses, in the order of the requests.
  /// @pre every call has its response.
  [[nodiscard]] message responses() const;
};

/// Takes the requests out of an answer that is new. Requests that nobody could
/// tell apart get references that differ.
open_turn new_turn(message_log before, message answer);

/// Finds the last answer of a conversation if it asks for tools that have not
/// all responded, and what was said to them since; empty otherwise.
/// @errors throws `invalid_argument` with the path for what was said to a tool
///         that did not ask.
std::optional<open_turn> find_open_turn(const message_log& all);

/// An error as a tool's response has it: `{"error":{"code":…,"message":…}}`.
json as_output(const status_error& x);

} // namespace tertulia::ai
