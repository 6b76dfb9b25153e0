// SPDX-License-Identifier: BSD-3-Clause

#include "chat.hpp"

#include <tertulia/ai/interrupt.hpp>
#include <tertulia/status.hpp>
#include <tertulia/uuid.hpp>

#include <algorithm>
#include <utility>

#include "output/shown_text.hpp"
#include "tool_failure.hpp"
#include <fmt/format.h>

namespace tertulia::tool {

namespace {

/// Translates the reply of the user to a tool: yes and no become booleans, all
/// other input is passed on as text.
json read_reply(const std::string& text) {
  auto lower = text;
  for (auto& x : lower)
    x = x >= 'A' && x <= 'Z' ? static_cast<char>(x - 'A' + 'a') : x;
  if (lower == "y" || lower == "yes")
    return true;
  if (lower == "n" || lower == "no")
    return false;
  return text;
}

} // namespace

// -- talking ------------------------------------------------------------------

std::vector<ai::message> chat::turn_messages(const std::string& text) {
  if (questions_.empty())
    return {ai::user_text(as_utf8(text))};
  answers_.push_back(
    ai::reply_to(questions_[answers_.size()], read_reply(as_utf8(text))));
  if (answers_.size() < questions_.size())
    return {};
  questions_.clear();
  return std::exchange(answers_, {});
}

void chat::repeat_questions() {
  chat_answer answer{tool_, manner_};
  for (auto i = answers_.size(); i < questions_.size(); ++i)
    answer.ask(questions_[i]);
  answer.end_turn(talk_.id());
}

void chat::send(const std::string& text) {
  // Otherwise it would be taken for the answer to this text.
  if (!talk_.is_open())
    hear_answer_under_way();
  auto before = questions_;
  auto messages = turn_messages(text);
  if (messages.empty()) {
    repeat_questions();
    return;
  }
  print_answer(
    [&](const auto& on_chunk) {
      return talk_.send(std::move(messages), on_chunk);
    },
    std::move(before));
}

void chat::hear_answer_under_way() {
  if (!talk_.answer_is_under_way())
    return;
  print_answer(
    [&](const auto& on_chunk) {
      return talk_.attach([&] { tell("An answer is under way."); }, on_chunk);
    },
    questions_);
}

void chat::print_answer(const turn_reader& hear,
                        std::vector<ai::part> old_questions) {
  chat_answer answer{tool_, manner_};
  try {
    const auto outcome = hear([&](const chat_chunk& x) { answer.add(x); });
    if (!outcome)
      return;
    if (outcome == chat_talk::outcome::cancelled) {
      answer.end();
      if (!answer.has_snapshot())
        questions_ = old_questions;
      // The terminal has echoed ^C, and the cursor is behind it.
      tell(fmt::format("{}Cancelled: {}", tool_.out().is_terminal() ? "\n" : "",
                       answer.has_snapshot()
                         ? "the results of its tools are kept."
                         : "the conversation is as it was before."));
      return;
    }
  } catch (const status_error&) {
    answer.end();
    if (!answer.has_snapshot())
      questions_ = old_questions;
    throw;
  }
  questions_ = answer.questions();
  answer.end_turn(talk_.id(), talk_.finish_reason());
}

void chat::watch() {
  try {
    auto listener = agent_.flow().stream_bidi(with_session_id{session().id},
                                              with_attach{}, as_listener{});
    tell("Listening; Ctrl-C quits.");
    for (auto is_over = false; !is_over;) {
      chat_answer answer{tool_, manner_};
      auto has_chunks = false;
      for (const auto& x : listener.responses()) {
        answer.add(x);
        has_chunks = true;
      }
      // The end of the run may have come with that of the last turn.
      is_over = listener.finished();
      if (has_chunks || !is_over)
        answer.end_turn(session().id, listener.finish_reason());
      tool_.out().flush();
    }
    static_cast<void>(listener.output());
  } catch (const status_error& x) {
    if (x.code() != errc::not_found)
      throw;
    throw failure{status_error{errc::not_found,
                               "nothing is under way in this conversation"},
                  "\"tertulia sessions show\" prints its messages."};
  }
}

void chat::tell(const std::string& text) const {
  if (is_talkative())
    remark(text);
}

// -- sessions -----------------------------------------------------------------

std::optional<session_info> chat::info() {
  try {
    return tool_.store()
      .ask<stored_session>(get_session_request{session(), detail_level::record})
      .info;
  } catch (const status_error& x) {
    if (x.code() != errc::not_found)
      throw;
    return std::nullopt;
  }
}

std::optional<ai::message_log> chat::messages() {
  try {
    return tool_.store()
      .ask<stored_session>(get_session_request{session()})
      .content.messages();
  } catch (const status_error& x) {
    if (x.code() != errc::not_found)
      throw;
    return std::nullopt;
  }
}

std::vector<std::string> chat::earlier_texts() {
  constexpr std::size_t most = 1'000;
  std::vector<std::string> result;
  if (const auto log = messages())
    for (const auto& x : log->from(log->size() - std::min(log->size(), most)))
      if (x.role == ai::role::user)
        if (auto text = x.text(); !text.empty())
          result.push_back(std::move(text));
  return result;
}

void chat::begin() {
  talk_.go_to(session_id{make_uuid()});
  questions_.clear();
  answers_.clear();
}

void chat::go_to(const session_info& x) {
  talk_.go_to(x.id);
  look_for_questions();
}

void chat::pause() {
  talk_.leave();
}

void chat::look_for_questions() {
  questions_.clear();
  answers_.clear();
  std::optional<ai::message_log> log;
  try {
    log = messages();
  } catch (const status_error& x) {
    if (x.code() != errc::data_loss)
      throw;
    throw failure{x, "/restore ID goes back to an undamaged snapshot, /new "
                     "starts a new conversation."};
  }
  if (log && !log->empty() && log->back().role == ai::role::model)
    questions_ = ai::interrupts_in(log->back().content);
  if (questions_.empty())
    return;
  // The next line is taken as an answer, so the question must be visible.
  if (is_talkative())
    tell(question_text(questions_.front()));
  else
    repeat_questions();
}

} // namespace tertulia::tool
