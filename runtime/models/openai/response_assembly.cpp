// SPDX-License-Identifier: BSD-3-Clause

#include "response_assembly.hpp"

#include <tertulia/status.hpp>

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace tertulia::openai {

namespace {

/// Maximum number of tool calls in an answer. A correct server stays below it.
constexpr std::int64_t max_calls = 128;

/// Maximum size of one tool call, in bytes.
constexpr std::size_t max_arguments = 1'048'576;

[[noreturn]] void refuse_answer(const char* what) {
  throw status_error{errc::data_loss,
                     fmt::format("the server's answer {}", what)};
}

/// Parses an untrusted document.
json parse(std::string_view text) {
  try {
    auto result = parse_json<json>(text);
    if (!result.is_object())
      refuse_answer("is not a JSON object");
    return result;
  } catch (const status_error& x) {
    if (x.code() == errc::data_loss)
      throw;
    refuse_answer("is not JSON");
  }
}

/// Returns the member; null if it is missing or null.
const json* find(const json& in, const char* name) {
  const auto found = in.find(name);
  return found == in.end() || found->is_null() ? nullptr : &*found;
}

/// Returns the text of a member; empty if it is missing.
std::string text_in(const json& in, const char* name) {
  const auto* found = find(in, name);
  if (found == nullptr)
    return {};
  if (!found->is_string())
    refuse_answer("has something else where text should be");
  return found->get<std::string>();
}

/// Returns the server's text for an error, in the usual form or in another.
std::string text_of_error(const json& x) {
  if (x.is_object() && x.contains("message"))
    return text_in(x, "message");
  return x.is_string() ? x.get<std::string>() : to_json_text(x);
}

std::int64_t count_of(const json& in, const char* name) {
  const auto* found = find(in, name);
  return found != nullptr && found->is_number_integer()
           ? found->get<std::int64_t>()
           : 0;
}

/// Returns the input of a tool call; empty if it is not JSON.
std::optional<json> input_of(const std::string& arguments) {
  if (arguments.empty())
    return json::object();
  try {
    return parse_json<json>(arguments);
  } catch (const status_error&) {
    return std::nullopt;
  }
}

ai::finish_reason reason_of(const std::string& x) {
  using enum ai::finish_reason;
  if (x == "stop" || x == "tool_calls" || x == "function_call")
    return stop;
  if (x == "length")
    return length;
  if (x == "content_filter")
    return blocked;
  return other;
}

} // namespace

std::optional<ai::model_response_chunk>
response_assembly::take(std::string_view event) {
  if (ended_)
    return std::nullopt;
  if (event == "[DONE]") {
    ended_ = true;
    return std::nullopt;
  }
  return take(parse(event), "delta");
}

std::optional<ai::model_response_chunk>
response_assembly::take_document(std::string_view text) {
  auto result = take(parse(text), "message");
  ended_ = true;
  if (!reason_)
    refuse_answer("does not say why it ended");
  return result;
}

std::optional<ai::model_response_chunk>
response_assembly::take(const json& document, const char* member) {
  if (const auto* error = find(document, "error")) {
    throw status_error{errc::unavailable, fmt::format("the server says: {}",
                                                      text_of_error(*error))};
  }
  if (const auto* usage = find(document, "usage"); usage && usage->is_object())
    take_usage(*usage);
  const auto* choices = find(document, "choices");
  if (choices == nullptr || !choices->is_array() || choices->empty())
    return std::nullopt; // only the usage, or an unknown kind of event
  const auto& choice = choices->front();
  if (!choice.is_object())
    refuse_answer("has a choice that is not an object");
  if (const auto said = text_in(choice, "finish_reason"); !said.empty())
    reason_ = reason_of(said);
  const auto* delta = find(choice, member);
  if (delta == nullptr)
    return std::nullopt;
  if (!delta->is_object())
    refuse_answer("has a piece that is not an object");
  if (const auto* calls = find(*delta, "tool_calls")) {
    if (!calls->is_array())
      refuse_answer("has tool calls that are not an array");
    for (const auto& x : *calls)
      take_call(x, &x != &calls->front());
  }
  ai::model_response_chunk result;
  for (const auto* name : {"reasoning_content", "reasoning"})
    if (const auto* thought = find(*delta, name);
        thought != nullptr && thought->is_string() && result.content.empty()) {
      auto text = thought->get<std::string>();
      if (text.empty())
        continue;
      reasoning_ += text;
      result.content.push_back(ai::part::reasoning(std::move(text)));
    }
  auto text = text_in(*delta, "content");
  refusal_ += text_in(*delta, "refusal");
  if (!text.empty()) {
    text_ += text;
    result.content.push_back(ai::part::text(std::move(text)));
  }
  if (result.content.empty())
    return std::nullopt;
  return result;
}

std::int64_t response_assembly::index_of(const json& piece,
                                         const std::string& id,
                                         bool is_next) const {
  if (const auto* given = find(piece, "index")) {
    if (!given->is_number_integer() || *given < 0)
      refuse_answer("has a tool call whose index is none");
    return *given < max_calls ? given->get<std::int64_t>() : max_calls;
  }
  // Some servers omit the index. Then a new ID begins a new call. Without an
  // ID, only a piece that follows another one in its event begins a new call.
  if (calls_.empty())
    return 0;
  const auto last = calls_.rbegin()->first;
  if (id.empty())
    return is_next ? last + 1 : last;
  if (is_next && calls_.rbegin()->second.id == id)
    return last + 1; // in one event they are two calls
  const auto same
    = std::find_if(calls_.begin(), calls_.end(),
                   [&](const auto& x) { return x.second.id == id; });
  return same == calls_.end() ? last + 1 : same->first;
}

void response_assembly::take_call(const json& from, bool is_next) {
  if (!from.is_object())
    refuse_answer("has a tool call that is not an object");
  auto id = text_in(from, "id");
  const auto index = index_of(from, id, is_next);
  if (index >= max_calls)
    throw status_error{errc::resource_exhausted,
                       "the server's answer has too many tool calls"};
  auto& call = calls_[index];
  if (!id.empty())
    call.id = std::move(id);
  if (const auto* function = find(from, "function")) {
    if (!function->is_object())
      refuse_answer("has a tool call without a function");
    call.name += text_in(*function, "name");
    call.arguments += text_in(*function, "arguments");
    if (call.name.size() + call.arguments.size() > max_arguments)
      throw status_error{errc::resource_exhausted,
                         "the server's answer has a tool call that is too "
                         "long"};
  }
}

void response_assembly::take_usage(const json& from) {
  auto& usage = usage_.emplace(count_of(from, "prompt_tokens"),
                               count_of(from, "completion_tokens"));
  if (const auto total = count_of(from, "total_tokens"); total != 0)
    usage.total_tokens = total;
}

std::optional<ai::model_response_chunk> response_assembly::take_requests() {
  if (!reason_) // cut off: the calls may be incomplete
    return std::nullopt;
  ai::model_response_chunk result;
  const auto is_cut = reason_ == ai::finish_reason::length;
  for (auto& [index, call] : std::exchange(calls_, {})) {
    // An incomplete request is not an error if the model had to stop.
    auto input = input_of(call.arguments);
    if (is_cut && (call.arguments.empty() || !input || !input->is_object()))
      continue;
    if (call.name.empty())
      refuse_answer("has a tool call without a name");
    if (!input)
      refuse_answer("has a tool call whose arguments are not JSON");
    requests_.push_back(ai::part::request(
      std::move(call.name), std::move(*input), std::move(call.id)));
    result.content.push_back(requests_.back());
  }
  if (result.content.empty())
    return std::nullopt;
  return result;
}

ai::model_response response_assembly::finish() {
  if (!reason_)
    throw status_error{errc::unavailable,
                       "the server's answer was cut off before its end"};
  ai::message message;
  message.role = ai::role::model;
  if (!reasoning_.empty())
    message.content.push_back(ai::part::reasoning(std::move(reasoning_)));
  if (!text_.empty())
    message.content.push_back(ai::part::text(std::move(text_)));
  for (auto& x : requests_)
    message.content.push_back(std::move(x));
  ai::model_response result;
  result.finish_reason = reason_;
  if (!refusal_.empty()) {
    result.finish_reason = ai::finish_reason::blocked;
    result.finish_message = std::move(refusal_);
  }
  if (!message.content.empty())
    result.message = std::move(message);
  result.usage = usage_;
  return result;
}

} // namespace tertulia::openai
