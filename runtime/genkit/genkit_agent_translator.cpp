// SPDX-License-Identifier: BSD-3-Clause

#include "genkit_agent_translator.hpp"

#include <tertulia/json.hpp>
#include <tertulia/status_error.hpp>

#include <utility>

#include "genkit_agent.hpp"
#include "message/error_body.hpp"
#include "message/json_slices.hpp"

namespace tertulia::web {

namespace {

/// Returns the member of Genkit for one of a chunk; empty if it has none.
std::string_view chunk_member(std::string_view own) {
  if (own == "chunk")
    return "modelChunk";
  if (own == "artifact" || own == "customPatch")
    return own;
  return {};
}

/// Makes the questions of tools a chunk as Genkit sends it: one of the role
/// `tool`, which belongs to no message of the answer.
void mark_questions(json& chunk) {
  if (!chunk.is_object())
    return;
  const auto count = show_questions(chunk);
  if (count == 0 || count < chunk["content"].size())
    return;
  chunk["role"] = "tool";
  chunk.erase("index");
}

/// Removes the state of the last turn that was good from the details of an
/// error.
/// @returns null if they have none.
json take_state(json& error) {
  const auto details = error.find("details");
  if (details == error.end() || !details->is_object()
      || !details->contains("state"))
    return nullptr;
  auto result = std::move((*details)["state"]);
  details->erase("state");
  if (details->empty())
    error.erase(details);
  return result;
}

/// Text of a question in a message, which needs a change before it is passed
/// on. It may also be that of something else.
constexpr std::string_view question_mark = R"("interrupt")";

/// Returns the last message of the state of a conversation, if it is one of the
/// model; empty otherwise.
std::string message_of(std::string_view state) {
  std::string_view last;
  for_each_element(member_in(state, "messages"),
                   [&](std::string_view x) { last = x; });
  if (member_in(last, "role") != R"("model")")
    return {};
  if (last.find(question_mark) == std::string_view::npos)
    return std::string{last};
  auto message = read_document(last);
  show_questions(message);
  return line_of(message);
}

/// Returns a chunk of a model as Genkit sends it.
std::string model_chunk(std::string_view text) {
  if (text.find(question_mark) == std::string_view::npos)
    return std::string{text};
  auto chunk = read_document(text);
  mark_questions(chunk);
  return line_of(chunk);
}

/// Appends a member to the text of an object that is not closed yet.
void add_member(std::string& to, std::string_view name, std::string_view text) {
  to += to.empty() ? '{' : ',';
  to.append(1, '"').append(name).append("\":").append(text);
}

} // namespace

void genkit_agent_translator::translate(const frame& x,
                                        std::vector<genkit_event>& to) {
  switch (x.kind) {
    case frame_kind::opened:
      is_open_ = true;
      if (session_.empty())
        session_ = x.position->session.str();
      snapshot_ = x.position->snapshot.str();
      break;
    case frame_kind::chunks: add_chunks(x.text, to); break;
    case frame_kind::turn_end: add_turn_end(*x.position, to); break;
    case frame_kind::output:
      to.push_back(
        {genkit_event_kind::result, output_of(member_in(x.text, "finishReason"),
                                              member_in(x.text, "state"), {})});
      break;
    case frame_kind::refusal:
      to.push_back({genkit_event_kind::error, x.text, x.code});
      break;
    case frame_kind::error: add_error(x, to); break;
    default: break;
  }
}

void genkit_agent_translator::add_chunks(std::string_view chunks,
                                         std::vector<genkit_event>& to) const {
  for_each_element(chunks, [&](std::string_view chunk) {
    for_each_member(chunk, [&](std::string_view own, std::string_view value) {
      const auto name = chunk_member(own);
      if (name.empty() || value == "null")
        return;
      std::string message;
      if (own == "chunk")
        add_member(message, name, model_chunk(value));
      else
        add_member(message, name, value);
      message += '}';
      to.push_back({genkit_event_kind::message, std::move(message)});
    });
  });
}

void genkit_agent_translator::add_turn_end(const frame_position& x,
                                           std::vector<genkit_event>& to) {
  std::string end;
  if (x.finish_reason)
    add_member(end, "finishReason", to_json_text(*x.finish_reason));
  if (has_store_ && x.snapshot) {
    snapshot_ = x.snapshot.str();
    add_member(end, "snapshotId", snapshot_text());
  }
  if (end.empty())
    end = '{';
  to.push_back(
    {genkit_event_kind::message, R"({"turnEnd":)" + std::move(end) + "}}"});
}

// A client of Genkit takes an error event for the end of its conversation, and
// an output with an error for the end of a turn that it can repeat.
void genkit_agent_translator::add_error(const frame& x,
                                        std::vector<genkit_event>& to) const {
  auto error = read_document(x.text);
  const auto has_details = [&](const char* a, const char* b) {
    const auto i = error.find("details");
    return i != error.end() && i->contains(a) && i->contains(b);
  };
  const auto has_lost_its_place // in the log of a run, which goes on
    = x.code == errc::out_of_range && has_details("number", "snapshot");
  if (!is_open_ && has_details("status", "snapshot")) {
    // The snapshot is that of a run that has made none.
    error["status"] = status_name(errc::invalid_argument);
  } else if (has_lost_its_place
             || (!is_open_ && x.code != errc::not_found
                 && x.code != errc::data_loss)) {
    to.push_back({genkit_event_kind::error, line_of(error), x.code});
    return;
  }
  if (!is_open_) {
    json output{{"error", std::move(error)}, {"finishReason", "failed"}};
    to.push_back({genkit_event_kind::result, line_of(output)});
    return;
  }
  to.push_back(
    {genkit_event_kind::message, R"({"turnEnd":{"finishReason":"failed"}})"});
  const auto state = has_store_ ? json{} : take_state(error);
  to.push_back({genkit_event_kind::result,
                output_of(R"("failed")",
                          state.is_object() ? line_of(state) : std::string{},
                          line_of(error))});
}

std::string genkit_agent_translator::snapshot_text() const {
  return to_json_text(
    genkit_snapshot{snapshot_id{snapshot_}, session_id{session_}}.name());
}

std::string genkit_agent_translator::output_of(std::string_view reason,
                                               std::string_view state,
                                               std::string_view error) const {
  std::string result;
  if (const auto artifacts = member_in(state, "artifacts");
      artifacts.starts_with('[') && artifacts != "[]" && error.empty())
    add_member(result, "artifacts", artifacts);
  if (!error.empty())
    add_member(result, "error", error);
  if (!reason.empty() && reason != "null")
    add_member(result, "finishReason", reason);
  if (const auto message = message_of(state); !message.empty())
    add_member(result, "message", message);
  add_member(result, "sessionId", to_json_text(session_));
  if (has_store_) {
    if (!snapshot_.empty())
      add_member(result, "snapshotId", snapshot_text());
  } else if (error.empty() || !state.empty()) {
    auto document
      = state.starts_with('{') ? read_document(state) : json::object();
    add_member(result, "state",
               line_of(genkit_state(std::move(document), session_)));
  }
  result += '}';
  return result;
}

} // namespace tertulia::web
