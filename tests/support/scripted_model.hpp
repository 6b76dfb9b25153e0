// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/ai/generate.hpp>
#include <tertulia/testing/scripted_model.hpp>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "support/flows.hpp"

namespace tertulia::test {

using testing::scripted_model;

/// Returns a message of a model.
template <class... Parts>
ai::message model_says(Parts... parts) {
  ai::message result;
  result.role = ai::role::model;
  (result.content.push_back(std::move(parts)), ...);
  return result;
}

/// Returns messages, or pieces of them, as texts: `user: hello`,
/// `model: add({"a":1})`, `tool: add=2`.
template <class Messages>
std::vector<std::string> lines_of(const Messages& messages) {
  std::vector<std::string> result;
  for (const auto& x : messages) {
    auto line = to_string(x.role) + ':';
    for (const auto& part : x.content) {
      if (const auto* text = part.as_text())
        line += ' ' + text->text;
      if (const auto* wanted = part.as_request())
        line += ' ' + wanted->name + wanted->ref + '('
                + to_json_text(wanted->input) + ')';
      if (const auto* done = part.as_response())
        line += ' ' + done->name + done->ref + '=' + to_json_text(done->output);
    }
    result.push_back(std::move(line));
  }
  return result;
}

using lines = std::vector<std::string>;

/// Input of the tools in tests.
struct sum {
  int a = 0;
  int b = 0;
};
BOOST_DESCRIBE_STRUCT(sum, (), (a, b))

/// Fixture with a deterministic runtime and a scripted model.
struct generating : flows {
  auto model() const {
    return scripted_model{script};
  }

  /// Adds answers to the script: messages, single parts of them, or texts.
  template <class... Answers>
  void answers(Answers... xs) {
    (script->answers.push_back(to_message(std::move(xs))), ...);
  }

  /// Returns the messages that preceded the answer of the model at an index.
  lines received(std::size_t index) const {
    return lines_of(script->asked.at(index).messages);
  }

  auto define_add() {
    return ai::define_tool(*rt, "add", "Adds two numbers.",
                           [](ai::tool_context, sum x) -> task<int> {
                             co_return x.a + x.b;
                           });
  }

  /// Defines a tool that throws an error.
  template <class Error, class... Options>
  auto define_bad(Error error, const Options&... options) {
    return ai::define_tool(
      *rt, "bad", "",
      [error](ai::tool_context, sum) -> task<> {
        throw error;
        co_return;
      },
      options...);
  }

  /// Defines a tool that takes one second.
  auto define_slow() {
    return ai::define_tool(*rt, "slow", "Takes a second.",
                           [this](ai::tool_context ctx, sum x) -> task<int> {
                             const departure here{slow_left};
                             co_await ctx.sleep(std::chrono::seconds{1});
                             co_return x.a;
                           });
  }

  /// Sends messages to a conversation.
  template <class Client>
  static void say(Client& client, std::vector<ai::message> messages) {
    client.send(ai::conversation_input{std::move(messages)});
  }

  template <class Client>
  static void say(Client& client, std::string text) {
    say(client, std::vector<ai::message>(1, ai::user_text(std::move(text))));
  }

  static ai::message to_message(ai::message x) {
    return x;
  }

  static ai::message to_message(ai::part x) {
    return model_says(std::move(x));
  }

  static ai::message to_message(const char* text) {
    return ai::model_text(text);
  }

  std::shared_ptr<scripted_model::script> script
    = std::make_shared<scripted_model::script>();
  int slow_left = 0;
};

/// Returns a request for a tool whose input is a `sum`.
inline ai::part asks(std::string name, int a, int b, std::string ref = {}) {
  json input;
  input["a"] = a;
  input["b"] = b;
  return ai::part::request(std::move(name), std::move(input), std::move(ref));
}

} // namespace tertulia::test
