// SPDX-License-Identifier: BSD-3-Clause

// `tertulia chat` with a model that is at a server.

#include <atomic>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "support/openai_client.hpp"
#include "support/tool_chat.hpp"
#include "support/tool_store.hpp"

namespace tertulia::test::tool_chat_server_tests {

namespace {

struct tool_chat_server : a_chat {
  /// Talks to a model at the server.
  tool_result talk(strings options, const std::string& lines) const {
    options.insert(options.begin(), "chat");
    auto all = command(std::move(options));
    all.insert(all.begin() + 1, {"OPENAI_BASE_URL=" + server.url(),
                                 "OPENAI_API_KEY=sk-of-nobody"});
    return tool_process{on_pipes, std::move(all), lines}.wait();
  }

  /// How often the server was asked.
  [[nodiscard]] std::size_t asked() const {
    return server.requests().size();
  }

  std::atomic<bool> fails = false;

  http_server server{[this](http_peer& client, const std::string&) {
    if (fails)
      client.answer("401 Unauthorized", R"({"error":{"message":"no"}})");
    else
      say_hello(client);
  }};
};

} // namespace

TEST_F(tool_chat_server, has_the_model_of_that_name_answer) {
  const auto result
    = talk({"--quiet", "--model", "openai:gpt-4o-mini"}, "Hi there\n");
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.out, "Hello\n");
  ASSERT_EQ(asked(), 1u);
  const auto request = server.requests().front();
  EXPECT_TRUE(has(request, "\r\nAuthorization: Bearer sk-of-nobody\r\n"));
  EXPECT_TRUE(has(request, R"("model":"gpt-4o-mini")"));
  EXPECT_TRUE(has(request, "Hi there"));
}

TEST_F(tool_chat_server, sends_what_was_said_in_an_earlier_run) {
  answers("My name is Ada\n");
  EXPECT_EQ(talk({"--quiet", "--model", "openai:m"}, "Who am I?\n").code, 0);
  ASSERT_EQ(asked(), 1u);
  EXPECT_TRUE(has(server.requests().front(), "My name is Ada"));
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
  fails = true;
  const auto result = talk({"--quiet", "--model", "openai:m"}, "Hi\n");
  EXPECT_EQ(result.code, 1);
  EXPECT_EQ(result.out, "");
  EXPECT_FALSE(has(result.err, "sk-of-nobody"));
  EXPECT_TRUE(tree().empty());
}

TEST_F(tool_chat_server, a_server_has_more_than_one_model) {
  const auto result = talk({"--model", "openai"}, "Hi\n");
  EXPECT_EQ(result.code, 2);
  EXPECT_TRUE(has(result.err, "openai:gpt-4o-mini")) << result.err;
  EXPECT_EQ(asked(), 0u);
}

} // namespace tertulia::test::tool_chat_server_tests
