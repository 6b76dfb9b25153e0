// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/ai/model.hpp>
#include <tertulia/ai/part.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "chat_talk.hpp"
#include "documents.hpp"
#include "tool.hpp"

namespace tertulia::tool {

/// How much a chat prints beside the answers.
enum class chat_manner {
  talkative, ///< What tools do and what tools ask goes to standard error.
  quiet,     ///< Nothing.
};

/// Prints one answer as it comes; as one document at its end, for programs.
///
/// @lifetime within that of the tool.
class chat_answer {
public:
  chat_answer(tool& t, chat_manner manner) : tool_(t), manner_(manner) {}

  void hear(const chat_chunk& x);

  /// Asks what a tool wants to know: the first question at once, each of the
  /// others when the one before has its answer.
  void ask(const ai::part& question);

  /// Ends the line.
  void end();

  /// Ends the answer: also one without a word is a line, or a document.
  /// @param how the model has ended it, if one was asked.
  void end_turn(const session_id& session,
                std::optional<ai::finish_reason> how = {});

  /// Whether a snapshot was made on the way.
  [[nodiscard]] bool has_snapshot() const noexcept {
    return !snapshot_.empty();
  }

  /// What tools ask a person, in order.
  [[nodiscard]] const std::vector<ai::part>& questions() const noexcept {
    return questions_;
  }

private:
  void say(const std::string& text);
  void print_json(const session_id& session,
                  std::optional<ai::finish_reason> how);
  void hear_parts(const ai::model_response_chunk& x);
  void note(const std::string& text);

  tool& tool_;
  chat_manner manner_;
  std::string text_;
  snapshot_id snapshot_;
  document tools_ = document::array();
  std::vector<ai::part> questions_;
  /// Characters without width that the text ends with so far.
  std::size_t marks_ = 0;
  bool in_line_ = false;
  /// Whether tools have worked since something was said.
  bool interrupted_ = false;
};

/// What a tool asks, as people read it.
[[nodiscard]] std::string question_text(const ai::part& x);

} // namespace tertulia::tool
