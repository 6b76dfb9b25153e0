// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/ai/generate_request.hpp>
#include <tertulia/ai/message_log.hpp>
#include <tertulia/ai/model.hpp>
#include <tertulia/ai/model_output.hpp>
#include <tertulia/context.hpp>

#include <algorithm>
#include <coroutine>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace example {

/// Stands in for a hosted model: it answers from a script.
///
/// A real model would be an actor that the body sends requests to, or a library
/// that it calls through `ctx.run_blocking`.
class scripted_model {
public:
  /// The model gives this answer if the last message contains the text. A
  /// result of a tool is matched as `name output`, with the output as JSON.
  struct cue {
    std::string received;
    tertulia::ai::message answer;
  };

  explicit scripted_model(std::vector<cue> script)
    : script_(std::move(script)) {}

  /// Answers a conversation, as a step of the body, and streams each word.
  /// @param hear takes a `model_response_chunk` and returns an awaitable, which
  ///             is awaited before the next chunk.
  template <class Hear>
  [[nodiscard]] tertulia::task<tertulia::ai::model_response>
  generate(tertulia::context ctx, tertulia::ai::message_log history,
           Hear hear) const {
    const auto step = [answer = answer_to(history.back()),
                       hear = std::move(hear)] { return say(answer, hear); };
    return ctx.run_step("generate", step);
  }

  /// Answers a conversation without streaming.
  [[nodiscard]] tertulia::task<tertulia::ai::model_response>
  generate(tertulia::context ctx, tertulia::ai::message_log history) const {
    return generate(ctx, std::move(history),
                    [](auto) { return std::suspend_never{}; });
  }

  /// Answers a request: `ai::define_model(rt, "scripted", model)`.
  tertulia::task<tertulia::ai::model_response>
  operator()(tertulia::context, tertulia::ai::generate_request request,
             tertulia::ai::model_output out) const {
    return say(answer_to(request.messages.back()),
               [out](auto chunk) { return out.send(std::move(chunk)); });
  }

private:
  [[nodiscard]] tertulia::ai::message
  answer_to(const tertulia::ai::message& last) const {
    auto received = last.text();
    for (const auto& part : last.content)
      if (const auto* tool = part.as_response())
        received
          += tool->name + ' ' + tertulia::to_json_text(tool->output) + ' ';
    for (const auto& [cue, answer] : script_)
      if (received.find(cue) != std::string::npos)
        return answer;
    return tertulia::ai::model_text("Tell me more.");
  }

  template <class Hear>
  static tertulia::task<tertulia::ai::model_response>
  say(tertulia::ai::message answer, Hear hear) {
    const auto text = answer.text();
    for (std::size_t from = 0; from < text.size();) {
      const auto to = std::min(text.find(' ', from), text.size() - 1) + 1;
      tertulia::chunks<tertulia::ai::part> word;
      word.push_back(tertulia::ai::part::text(text.substr(from, to - from)));
      co_await hear(tertulia::ai::model_response_chunk{std::move(word)});
      from = to;
    }
    for (const auto& part : answer.content)
      if (part.as_request() != nullptr) {
        tertulia::chunks<tertulia::ai::part> wanted;
        wanted.push_back(part);
        co_await hear(tertulia::ai::model_response_chunk{std::move(wanted)});
      }
    co_return tertulia::ai::model_response{std::move(answer),
                                           tertulia::ai::finish_reason::stop};
  }

  std::vector<cue> script_;
};

/// The model of most examples.
inline const scripted_model model{{
  {"Tell me about C++", tertulia::ai::model_text("C++ builds on values.")},
  {"coroutines", tertulia::ai::model_text("Coroutines wait without a thread.")},
  {"actors", tertulia::ai::model_text("Actors share nothing but messages.")},
}};

/// Returns the topic of messages: the last word.
inline std::string topic_of(const std::vector<tertulia::ai::message>& added) {
  auto text = added.back().text();
  text.erase(text.find_last_not_of(".!?") + 1);
  return text.substr(text.find_last_of(' ') + 1);
}

} // namespace example
