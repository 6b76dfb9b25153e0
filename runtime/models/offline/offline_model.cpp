// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/ai/define_model.hpp>
#include <tertulia/ai/offline_model.hpp>

#include <algorithm>

#include "fitted_json.hpp"
#include "partner.hpp"
#include "tool_wishes.hpp"
#include <fmt/format.h>

namespace tertulia::ai {

namespace {

/// Returns the text of the last message of the user.
std::string last_said(const message_log& messages) {
  const auto size = messages.size();
  std::string result;
  for (const auto& x : messages.from(size - std::min<std::size_t>(size, 64)))
    if (x.role == role::user)
      result = x.text();
  return result;
}

std::string missing_tool(const std::string& name,
                         const std::vector<tool_definition>& tools) {
  auto result = fmt::format("I have no tool called {}.", name);
  for (std::size_t i = 0; i < tools.size(); ++i)
    result += (i == 0 ? " I could use " : ", ") + tools[i].name;
  return tools.empty() ? result : result + '.';
}

/// Returns the complete answer, before any part of it is sent.
message answer_to(const generate_request& request) {
  if (!request.messages.empty() && request.messages.back().role == role::tool)
    return model_text(offline::told_of(request.messages.back()));
  const auto said = last_said(request.messages);
  auto wishes = offline::tool_wishes(request, said);
  if (!wishes.empty()) {
    message result;
    result.role = role::model;
    for (auto& x : wishes)
      result.content.emplace_back(std::move(x));
    return result;
  }
  if (!request.output_schema.is_null())
    return model_text(
      to_json_text(offline::fitted_json(request.output_schema, said)));
  if (request.tool_choice != tool_choice::none)
    if (const auto name = offline::wanted_tool(said); !name.empty())
      return model_text(missing_tool(name, request.tools));
  return model_text(offline::reply_to(request.messages));
}

std::int64_t words_in(const std::string& text) {
  return std::count(text.begin(), text.end(), ' ') + (text.empty() ? 0 : 1);
}

/// Cuts the text before the first stop sequence.
void stop_at(const std::vector<std::string>& stops, std::string& text) {
  for (const auto& x : stops)
    if (!x.empty())
      text.resize(std::min(text.find(x), text.size()));
}

task<> say_words(context ctx, model_output out, std::string text,
                 caf::timespan pause) {
  for (std::size_t from = 0; from < text.size();) {
    if (pause.count() > 0)
      co_await ctx.sleep(pause);
    const auto blank = text.find(' ', from);
    const auto to = blank == std::string::npos ? text.size() : blank + 1;
    co_await out.send_text(text.substr(from, to - from));
    from = to;
  }
}

/// Limits a text to a number of words.
/// @returns whether the text was longer.
bool shorten(std::string& text, std::int64_t words) {
  std::size_t end = 0;
  for (; words > 0 && end != std::string::npos; --words)
    end = text.find(' ', end == 0 ? 0 : end + 1);
  if (end == std::string::npos)
    return false;
  text.resize(end);
  return true;
}

task<model_response> answer_offline(context ctx, generate_request request,
                                    model_output out, offline_options options) {
  model_response result{answer_to(request), finish_reason::stop};
  auto& content = result.message->content;
  if (const auto* first = content.front().as_text()) {
    auto text = first->text;
    stop_at(request.config.stop_sequences, text);
    const auto limit = request.config.max_output_tokens;
    if (limit && shorten(text, std::max<std::int64_t>(*limit, 0)))
      result.finish_reason = finish_reason::length;
    result.usage.emplace(words_in(last_said(request.messages)), words_in(text));
    content.front() = part::text(text);
    co_await say_words(ctx, out, std::move(text), options.word_pause);
  } else {
    model_response_chunk chunk;
    chunk.content.assign(content.begin(), content.end());
    co_await out.send(std::move(chunk));
    result.usage.emplace(words_in(last_said(request.messages)), 0);
  }
  co_return result;
}

} // namespace

model define_offline_model(runtime& rt, std::string name,
                           offline_options options) {
  if (options.word_pause.count() < 0)
    throw status_error{errc::invalid_argument,
                       "a pause between words must not be negative"};
  return define_model(
    rt, std::move(name),
    [options](context ctx, generate_request request, model_output out) {
      return answer_offline(ctx, std::move(request), out, options);
    },
    "A conversation partner that needs no key and no network.");
}

} // namespace tertulia::ai
