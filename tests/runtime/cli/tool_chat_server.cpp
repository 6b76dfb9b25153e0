// SPDX-License-Identifier: BSD-3-Clause

// `tertulia chat` with a model on a server.

#include <csignal>
#include <cstddef>
#include <future>
#include <optional>
#include <string>
#include <utility>

#include "support/openai_client.hpp"
#include "support/tool_chat.hpp"
#include "support/tool_store.hpp"

namespace tertulia::test::tool_chat_server_tests {

namespace {

struct tool_chat_server : a_chat {
  /// Returns the command of a chat with a model on the server.
  strings command_to_talk(strings options) const {
    options.insert(options.begin(), "chat");
    auto all = command(std::move(options));
    all.insert(all.begin() + 1, {"OPENAI_BASE_URL=" + server->url(),
                                 "OPENAI_API_KEY=sk-of-nobody"});
    return all;
  }

  /// Runs a chat with a model on the server.
  tool_result talk(strings options, const std::string& lines) const {
    return run_process(command_to_talk(std::move(options)), lines);
  }

  /// Returns the number of requests to the server.
  [[nodiscard]] std::size_t asked() const {
    return server->requests().size();
  }

  /// Replaces the answers of the server.
  void serve(const http_server::handler& answer) {
    server.emplace(answer);
  }

  std::optional<http_server> server{std::in_place, say_hello};
};

/// Sends an answer that asks the user two questions.
void ask_two_questions(http_peer& client) {
  client.begin_events();
  client.send_last_chunk(
    sse_event(
      R"({"choices":[{"delta":{"tool_calls":[)"
      R"({"index":0,"id":"a","type":"function","function":)"
      R"({"name":"ask_user","arguments":"{\"question\":\"Who?\"}"}},)"
      R"({"index":1,"id":"b","type":"function","function":)"
      R"({"name":"ask_user","arguments":"{\"question\":\"When?\"}"}}]},)"
      R"("finish_reason":"tool_calls"}]})")
    + sse_event("[DONE]"));
}

} // namespace

TEST_F(tool_chat_server, has_the_model_of_that_name_answer) {
  const auto result
    = talk({"--quiet", "--model", "openai:gpt-4o-mini"}, "Hi there\n");
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.out, "Hello\n");
  ASSERT_EQ(asked(), 1u);
  const auto request = server->requests().front();
  EXPECT_TRUE(has(request, "\r\nAuthorization: Bearer sk-of-nobody\r\n",
                  R"("model":"gpt-4o-mini")", "Hi there"));
}

TEST_F(tool_chat_server, sends_what_was_said_in_an_earlier_run) {
  answers("My name is Ada\n");
  EXPECT_EQ(talk({"--quiet", "--model", "openai:m"}, "Who am I?\n").code, 0);
  ASSERT_EQ(asked(), 1u);
  EXPECT_TRUE(has(server->requests().front(), "My name is Ada"));
}

TEST_F(tool_chat_server, another_model_can_answer_from_one_line_to_the_next) {
  const auto result
    = talk({"--quiet"}, "/model openai:m\nHi\n/model eliza\nMy name is Bo\n");
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(lines_of(result.out).size(), 2u) << result.out;
  EXPECT_TRUE(result.out.starts_with("Hello\n")) << result.out;
  EXPECT_EQ(asked(), 1u);
}

TEST_F(tool_chat_server, what_the_server_refuses_is_said_and_keeps_nothing) {
  serve(answering("401 Unauthorized",
                  R"({"error":{"message":"no such key: sk-of-nobody"}})"));
  const auto result = talk({"--quiet", "--model", "openai:m"}, "Hi\n");
  EXPECT_EQ(result.code, 1);
  EXPECT_EQ(result.out, "");
  EXPECT_TRUE(has(result.err, "401", "no such key: ***"));
  EXPECT_FALSE(has(result.err, "sk-of-nobody"));
  const auto details = talk({"--json", "--model", "openai:m"}, "Hi\n").err;
  EXPECT_EQ(json::parse(details).at("error").at("code"), "unauthenticated");
  EXPECT_FALSE(has(details, "sk-of-nobody"));
  EXPECT_TRUE(tree().empty());
}

TEST_F(tool_chat_server, is_left_with_130_in_the_middle_of_an_answer) {
  std::promise<void> asked_once;
  std::promise<void> over;
  auto count = 0;
  serve([&, end = over.get_future().share()](http_peer& client,
                                             const std::string&) {
    if (++count > 1)
      return say_hello(client);
    client.begin_events();
    asked_once.set_value();
    end.wait();
  });
  tool_process process{on_pipes, command_to_talk({"--model", "openai:m"}),
                       "Hi\nHi again\n"};
  asked_once.get_future().wait();
  process.send(SIGINT);
  const auto result = process.wait();
  over.set_value();
  EXPECT_EQ(result.code, 130);
  EXPECT_FALSE(has(result.out, "Hello")) << "no answer to another line";
  EXPECT_TRUE(tree().empty());
}

TEST_F(tool_chat_server, a_refusal_of_the_model_is_an_answer) {
  serve(streaming(
    sse_event(R"({"choices":[{"delta":{"refusal":"I would rather not."},)"
              R"("finish_reason":"stop"}]})")
    + sse_event("[DONE]")));
  const auto result = talk({"--model", "openai:m"}, "Hi\nPlease\n");
  EXPECT_EQ(result.code, 0);
  EXPECT_EQ(result.out, "I would rather not.\nI would rather not.\n");
  EXPECT_TRUE(has(result.err, "refused to continue"));
  EXPECT_TRUE(has(server->requests().back(), "I would rather not."))
    << "the model knows what it has said";
}

TEST_F(tool_chat_server, an_answer_without_a_word_is_a_line) {
  serve(
    streaming(sse_event(R"({"choices":[{"finish_reason":"content_filter"}]})")
              + sse_event("[DONE]")));
  EXPECT_EQ(talk({"--quiet", "--model", "openai:m"}, "Hi\nPlease\n").out,
            "\n\n");
  EXPECT_TRUE(
    has(talk({"--model", "openai:m"}, "Hi\n").err, "refused to continue"));
}

TEST_F(tool_chat_server, no_pile_of_marks_comes_piece_by_piece) {
  const std::string mark = "\u0301";
  serve([&](http_peer& client, const std::string&) {
    client.begin_events();
    for (auto i = 0; i < 30; ++i)
      client.send_chunk(sse_text(mark));
    client.send_last_chunk(sse_end);
  });
  std::string shown;
  for (auto i = 0; i < 30; ++i)
    shown += i < 8 ? mark : "\\u{301}";
  EXPECT_EQ(talk({"--quiet", "--model", "openai:m"}, "Hi\n").out, shown + '\n');
}

TEST_F(tool_chat_server, an_answer_that_is_cut_short_says_so) {
  serve(streaming(
    sse_text("It was")
    + sse_event(R"({"choices":[{"delta":{},"finish_reason":"length"}]})")
    + sse_event("[DONE]")));
  const auto text = talk({"--model", "openai:m"}, "Hi\n");
  EXPECT_EQ(text.out, "It was\n");
  EXPECT_TRUE(has(text.err, "was cut off"));
  const auto answer
    = json::parse(talk({"--json", "--model", "openai:m"}, "Hi\n").out);
  EXPECT_EQ(answer.at("answer"), "It was");
  EXPECT_EQ(answer.at("finishReason"), "length");
  serve(say_hello);
  EXPECT_EQ(talk({"--model", "openai:m"}, "Hi\n").err, "");
}

TEST_F(tool_chat_server, each_of_two_questions_is_an_answer) {
  serve([](http_peer& client, const std::string& request) {
    if (has(request, R"("role":"tool")"))
      say_hello(client);
    else
      ask_two_questions(client);
  });
  const auto text
    = talk({"--quiet", "--model", "openai:m"}, "Hi\nAda\nToday\n");
  EXPECT_EQ(text.out, "Who?\nWhen?\nHello\n") << text.err;
  const auto result
    = talk({"--new", "--json", "--model", "openai:m"}, "Hi\nAda\nToday\n");
  const auto lines = lines_of(result.out);
  ASSERT_EQ(lines.size(), 3u) << result.out << result.err;
  const auto second = json::parse(lines[1]);
  EXPECT_EQ(second.at("answer"), "When?\n");
  EXPECT_EQ(second.at("questions").dump(), R"(["When?"])");
  EXPECT_EQ(second.at("session"), json::parse(lines[0]).at("session"));
  EXPECT_EQ(json::parse(lines[2]).at("answer"), "Hello");
  const auto last = server->requests().back();
  EXPECT_TRUE(has(last, "Ada", "Today"));
}

TEST_F(tool_chat_server, a_server_has_more_than_one_model) {
  EXPECT_TRUE(
    talk({"--model", "openai"}, "Hi\n").failed(2, "openai:gpt-4o-mini"));
  EXPECT_EQ(asked(), 0u);
}

} // namespace tertulia::test::tool_chat_server_tests
