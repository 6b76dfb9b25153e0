// SPDX-License-Identifier: BSD-3-Clause

#include "chat_answer.hpp"

#include <tertulia/ai/interrupt.hpp>
#include <tertulia/json.hpp>

#include "output/shown_text.hpp"
#include "tool_failure.hpp"
#include <fmt/format.h>

namespace tertulia::tool {

void chat_answer::add(const chat_chunk& x) {
  if (!x.snapshot_created.empty())
    snapshot_ = x.snapshot_created;
  if (!x.chunk || x.chunk->aggregated)
    return;
  add_parts(*x.chunk);
  if (x.chunk->role == ai::role::model)
    print_text(x.chunk->text());
}

void chat_answer::ask(const ai::part& question) {
  if (questions_.empty())
    print_text(fmt::format("{}\n", question_text(question)));
  questions_.push_back(question);
}

void chat_answer::add_parts(const ai::model_response_chunk& x) {
  for (const auto& question : ai::interrupts_in(x.content))
    ask(question);
  for (const auto& part : x.content) {
    if (const auto* asked = part.as_request()) {
      if (!part.metadata.contains(ai::interrupt_key))
        note(fmt::format("[{} {}]", asked->name, to_json_text(asked->input)));
      interrupted_ = true;
    } else if (const auto* answered = part.as_response()) {
      note(fmt::format("[{}: {}]", answered->name,
                       to_json_text(answered->output)));
      document tool;
      tool["name"] = answered->name;
      tool["output"] = document_in(to_json_text(answered->output));
      tools_.push_back(std::move(tool));
      interrupted_ = true;
    }
  }
}

void chat_answer::print_text(const std::string& text) {
  if (text.empty())
    return;
  // Text before and after tool calls belongs to different messages.
  if (std::exchange(interrupted_, false) && !text_.empty()) {
    text_ += '\n';
    end();
  }
  text_ += text;
  if (tool_.as_json())
    return;
  tool_.out().write(shown_lines(text, marks_));
  tool_.out().flush();
  in_line_ = !text.ends_with('\n');
}

void chat_answer::note(const std::string& text) {
  if (manner_ == chat_manner::quiet || tool_.as_json())
    return;
  end();
  remark(text);
}

void chat_answer::end() {
  if (!std::exchange(in_line_, false))
    return;
  tool_.out().write("\n");
  tool_.out().flush();
}

void chat_answer::end_turn(const session_id& session,
                           std::optional<ai::finish_reason> reason) {
  if (tool_.as_json()) {
    print_json(session, reason);
    return;
  }
  in_line_ = in_line_ || text_.empty();
  end();
  if (reason == ai::finish_reason::length)
    note("The answer was cut off at its maximum length.");
  else if (reason == ai::finish_reason::blocked)
    note("The model or its server refused to continue.");
  else if (text_.empty())
    note("The answer is empty.");
}

void chat_answer::print_json(const session_id& session,
                             std::optional<ai::finish_reason> reason) {
  document all;
  all["answer"] = as_utf8(text_);
  all["session"] = session.str();
  if (!snapshot_.empty())
    all["snapshot"] = snapshot_.str();
  if (!tools_.empty())
    all["tools"] = tools_;
  if (reason && *reason != ai::finish_reason::stop)
    all["finishReason"] = to_string(*reason);
  for (const auto& x : questions_)
    all["questions"].push_back(as_utf8(question_text(x)));
  tool_.out().json_line(all);
  tool_.out().flush();
}

} // namespace tertulia::tool
