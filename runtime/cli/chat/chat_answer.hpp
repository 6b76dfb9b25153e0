// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/ai/model.hpp>
#include <tertulia/ai/part.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "chat_talk.hpp"
#include "command_environment.hpp"
#include "output/documents.hpp"

namespace tertulia::tool {

/// Amount of output besides the answers.
enum class chat_manner {
  talkative, ///< Tool calls and questions of tools go to standard error.
  quiet,     ///< Answers only.
};

/// Prints an answer while it arrives; with `--json`, one document at its end.
///
/// @lifetime must not outlive the tool.
class chat_answer {
public:
  chat_answer(tool& t, chat_manner manner) : tool_(t), manner_(manner) {}

  void add(const chat_chunk& x);

  /// Asks a question of a tool. Prints the first question at once; the others
  /// follow when the previous one has been answered.
  void ask(const ai::part& question);

  /// Ends the current line.
  void end();

  /// Ends the answer. An answer without text also prints a line or a document.
  /// @param reason why the model ended it; empty if no model was called.
  void end_turn(const session_id& session,
                std::optional<ai::finish_reason> reason = {});

  /// Returns whether the turn has created a snapshot.
  [[nodiscard]] bool has_snapshot() const noexcept {
    return !snapshot_.empty();
  }

  /// Returns the questions of tools to the user, in order.
  [[nodiscard]] const std::vector<ai::part>& questions() const noexcept {
    return questions_;
  }

private:
  void print_text(const std::string& text);
  void print_json(const session_id& session,
                  std::optional<ai::finish_reason> reason);
  void add_parts(const ai::model_response_chunk& x);
  void note(const std::string& text);

  tool& tool_;
  chat_manner manner_;
  std::string text_;
  snapshot_id snapshot_;
  document tools_ = document::array();
  std::vector<ai::part> questions_;
  /// Number of zero-width characters at the end of the text so far.
  std::size_t marks_ = 0;
  bool in_line_ = false;
  /// Whether a tool was called since the last text.
  bool interrupted_ = false;
};

} // namespace tertulia::tool
