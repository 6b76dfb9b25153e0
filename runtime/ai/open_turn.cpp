// SPDX-License-Identifier: BSD-3-Clause

#include "open_turn.hpp"

#include <tertulia/ai/interrupt.hpp>
#include <tertulia/json.hpp>
#include <tertulia/sha256.hpp>

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace tertulia::ai {

namespace {

// Metadata keys of a request while other requests of its answer wait for a
// person.

/// Output of a tool that has already responded.
constexpr auto output_key = "pendingOutput";
/// Earlier replies to the tool, if it asks more than once.
constexpr auto replies_key = "approvals";
/// Question of the tool. This key stays after the turn is settled.
constexpr auto resolved_key = "resolvedInterrupt";

[[noreturn]] void refuse(std::size_t message, std::size_t part,
                         const std::string& reason,
                         errc code = errc::invalid_argument) {
  const auto path = fmt::format("$.messages[{}].content[{}]", message, part);
  throw status_error{code, fmt::format("{}: {}", path, reason),
                     json{{"path", path}}.dump()};
}

bool is_for_a_tool(const part& x) {
  return x.as_response() != nullptr || x.as_request() != nullptr;
}

bool has_request(const message& x) {
  return std::any_of(x.content.begin(), x.content.end(),
                     [](const part& y) { return y.as_request() != nullptr; });
}

const json* find(const metadata_map& in, const char* key) {
  const auto i = in.find(key);
  return i == in.end() ? nullptr : &i->second;
}

constexpr auto already_answered = "the request was answered before";

/// Number of messages that are searched for the request of a late reply.
constexpr std::size_t max_searched = 64;

/// Refuses a reply to a tool that does not wait for one.
[[noreturn]] void refuse_reply(const message_log& before, const part& reply,
                               std::size_t message, std::size_t part) {
  const auto* response = reply.as_response();
  const auto* again = reply.as_request();
  const auto& ref = response != nullptr ? response->ref : again->ref;
  const auto& name = response != nullptr ? response->name : again->name;
  const auto first
    = before.size() - std::min<std::size_t>(before.size(), max_searched);
  for (const auto& x : before.from(first))
    for (const auto& y : x.content)
      if (const auto* request = y.as_request();
          request != nullptr && x.role == role::model && request->ref == ref
          && request->name == name)
        refuse(message, part, already_answered, errc::already_exists);
  refuse(message, part, "no tool was requested");
}

/// Restores the calls of a turn from the metadata of its requests.
void recall(open_turn& turn) {
  for (std::size_t i = 0; i < turn.answer.content.size(); ++i) {
    const auto& x = turn.answer.content[i];
    if (x.as_request() == nullptr)
      continue;
    auto& call = turn.calls.emplace_back();
    call.part = i;
    call.due = false;
    if (const auto* question = find(x.metadata, interrupt_key))
      call.question = *question;
    if (const auto* said = find(x.metadata, replies_key);
        said != nullptr && said->is_array())
      for (const auto& one : *said)
        call.replies.push_back(one);
    if (const auto* output = find(x.metadata, output_key))
      turn.respond(call, *output);
  }
}

/// Reader of the messages that follow an answer.
class reply_reader {
public:
  reply_reader(open_turn& turn, std::size_t message)
    : turn_(turn), message_(message) {}

  /// Assigns the parts for tools to their calls and keeps the other parts.
  void read(const message& from) {
    message rest;
    rest.role = from.role;
    rest.metadata = from.metadata;
    for (std::size_t i = 0; i < from.content.size(); ++i) {
      const auto& x = from.content[i];
      if (const auto* response = x.as_response())
        take(i, x, *response);
      else if (const auto* request = x.as_request())
        take(i, x, *request);
      else
        rest.content.push_back(x);
    }
    if (!rest.content.empty())
      turn_.rest.push_back(std::move(rest));
    ++message_;
  }

  [[nodiscard]] bool said_something() const noexcept {
    return has_text_;
  }

private:
  void take(std::size_t part, const ai::part& x,
            const tool_response& response) {
    auto& call = find_call(part, response.name, response.ref);
    call.question.reset();
    call.response = x;
  }

  void take(std::size_t part, const ai::part& x, const tool_request& again) {
    auto& call = find_call(part, again.name, again.ref);
    const auto* said = find(x.metadata, resumed_key);
    if (said == nullptr)
      refuse(message_, part, "a request is repeated without an approval");
    if (!call.question)
      refuse(message_, part, "the tool has not requested an approval");
    // An approval is valid only for the input that was shown to the person.
    if (!again.input.is_null() && again.input != turn_.request(call).input)
      refuse(message_, part, "a request is repeated with another input");
    call.question.reset();
    call.replies.push_back(*said);
    call.due = true;
  }

  /// @returns the call that waits for this part.
  tool_call& find_call(std::size_t part, const std::string& name,
                       const std::string& ref) {
    has_text_ = true;
    // Other programs may write requests that differ only in their order. Their
    // responses then come in the same order.
    auto answered = false;
    for (auto& x : turn_.calls) {
      const auto& request = turn_.request(x);
      if (request.ref != ref)
        continue;
      if (request.name != name) {
        if (!ref.empty())
          refuse(message_, part,
                 "the request of that reference is for another tool");
      } else if (x.response || x.due) {
        answered = true;
      } else {
        return x;
      }
    }
    if (answered)
      refuse(message_, part, already_answered, errc::already_exists);
    refuse(message_, part, "no requested tool waits for this response");
  }

  open_turn& turn_;
  std::size_t message_;
  bool has_text_ = false;
};

/// Returns whether an answer and its responses are stored in settled form.
bool is_answered(const open_turn& turn,
                 const std::vector<const message*>& behind) {
  if (behind.empty() || behind.front()->role != role::tool)
    return false;
  const auto& first = behind.front()->content;
  const auto is_response
    = [](const part& x) { return x.as_response() != nullptr; };
  const auto was_open = [&](const tool_call& x) {
    const auto& noted = turn.answer.content[x.part].metadata;
    return noted.contains(interrupt_key) || noted.contains(output_key);
  };
  return first.size() == turn.calls.size()
         && std::all_of(first.begin(), first.end(), is_response)
         && std::none_of(turn.calls.begin(), turn.calls.end(), was_open);
}

} // namespace

// -- calls and stored forms ---------------------------------------------------

void open_turn::respond(tool_call& x, json output) const {
  const auto& of = request(x);
  x.response = ai::part::response(of.name, std::move(output), of.ref);
}

bool open_turn::waits() const {
  return std::any_of(calls.begin(), calls.end(),
                     [](const tool_call& x) { return x.question.has_value(); });
}

message open_turn::waiting_answer() const {
  auto result = answer;
  for (const auto& x : calls) {
    auto& noted = result.content[x.part].metadata;
    noted.erase(interrupt_key);
    if (x.question)
      noted[interrupt_key] = *x.question;
    if (!x.replies.empty())
      noted[replies_key] = x.replies;
    if (x.response)
      noted[output_key] = x.response->as_response()->output;
  }
  return result;
}

message open_turn::final_answer() const {
  auto result = answer;
  for (const auto& x : calls) {
    auto& noted = result.content[x.part].metadata;
    if (const auto i = noted.find(interrupt_key); i != noted.end()) {
      noted[resolved_key] = std::move(i->second);
      noted.erase(interrupt_key);
    }
    if (!x.replies.empty())
      noted[replies_key] = x.replies;
    noted.erase(output_key);
  }
  return result;
}

message open_turn::responses() const {
  message result;
  result.role = role::tool;
  for (const auto& x : calls)
    result.content.push_back(*x.response);
  return result;
}

// -- construction -------------------------------------------------------------

open_turn new_turn(message_log before, message answer) {
  open_turn result;
  result.before = std::move(before);
  result.answer = std::move(answer);
  std::set<std::pair<std::string, std::string>> seen;
  for (std::size_t i = 0; i < result.answer.content.size(); ++i) {
    auto& x = result.answer.content[i];
    if (x.as_request() == nullptr)
      continue;
    auto& request = std::get<tool_request>(x.value);
    const auto given = request.ref;
    for (auto n = 2; !seen.emplace(request.name, request.ref).second; ++n)
      request.ref = given + '#' + std::to_string(n);
    // The model must not set metadata that is written here.
    for (const auto* key :
         {interrupt_key, output_key, replies_key, resolved_key})
      x.metadata.erase(key);
    result.calls.emplace_back().part = i;
  }
  return result;
}

std::optional<open_turn> find_open_turn(const message_log& all) {
  // Only the last answer can be open: all earlier ones had to be settled before
  // it. So the cost does not grow with the conversation.
  auto before = all;
  std::vector<const message*> behind; // owned by `all`
  for (; !before.empty() && before.back().role != role::model;
       before = before.prefix(before.size() - 1))
    behind.push_back(&before.back());
  std::reverse(behind.begin(), behind.end());
  if (before.empty() || !has_request(before.back())) {
    for (std::size_t i = 0; i < behind.size(); ++i)
      for (std::size_t j = 0; j < behind[i]->content.size(); ++j)
        if (is_for_a_tool(behind[i]->content[j]))
          refuse_reply(before, behind[i]->content[j], before.size() + i, j);
    return std::nullopt;
  }
  open_turn result;
  result.answer = before.back();
  result.before = before.prefix(before.size() - 1);
  recall(result);
  reply_reader reader{result, before.size()};
  for (const auto* x : behind)
    reader.read(*x);
  if (is_answered(result, behind))
    return std::nullopt;
  const auto declined = !behind.empty() && !reader.said_something();
  for (auto& x : result.calls) {
    if (x.question && declined) {
      x.question.reset();
      result.respond(x, as_output({errc::cancelled,
                                   "the user continued without an answer "
                                   "to the question of the tool"}));
    } else if (!x.question && !x.due && !x.response) {
      result.respond(x, as_output({errc::aborted,
                                   "the tool was stopped before it finished"}));
    }
  }
  return result;
}

json as_output(const status_error& x) {
  json error;
  error["code"] = to_string(x.code());
  error["message"] = x.message();
  json result;
  result["error"] = std::move(error);
  return result;
}

std::string call_id_of(const session_link& of, const open_turn& turn,
                       const tool_call& call) {
  constexpr std::size_t digits = 32;
  const auto& request = turn.request(call);
  const auto identity
    = json::array({of.kind ? of.kind->agent : std::string{}, of.id.str(),
                   turn.before.size(), call.part, request.name, request.input});
  sha256 hash;
  hash.update(to_json_text(identity));
  return hash.hex().substr(0, digits);
}

} // namespace tertulia::ai
