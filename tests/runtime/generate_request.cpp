// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/ai/generate_request.hpp>
#include <tertulia/schema.hpp>

#include "support/refusal.hpp"
#include <gtest/gtest.h>

using namespace std::literals;

namespace tertulia::test::generate_request_tests {

namespace {

/// Request with a value in every member, and its JSON.
ai::generate_request full() {
  ai::generate_request result{
    ai::message_log{{ai::user_text("Rain in Lisbon?")}}, "Be brief."};
  result.tools.emplace_back("weather", "Looks out of the window.",
                            json{{"type", "object"}}, json{{"type", "string"}});
  result.tool_choice = ai::tool_choice::required;
  result.config.temperature = 0.5;
  result.config.top_p = 1;
  result.config.top_k = 40;
  result.config.max_output_tokens = 1'000;
  result.config.stop_sequences = {"END"};
  result.config.custom = json{{"seed", 7}};
  result.output_schema = json{{"type", "object"}};
  return result;
}

const auto full_text = R"({"messages":[{"content":[{"text":)"
                       R"("Rain in Lisbon?"}],"role":"user"}],)"
                       R"("system":"Be brief.",)"
                       R"("tools":[{"name":"weather",)"
                       R"("description":"Looks out of the window.",)"
                       R"("inputSchema":{"type":"object"},)"
                       R"("outputSchema":{"type":"string"}}],)"
                       R"("toolChoice":"required",)"
                       R"("config":{"temperature":0.5,"topP":1,"topK":40,)"
                       R"("maxOutputTokens":1000,"stopSequences":["END"],)"
                       R"("custom":{"seed":7}},)"
                       R"("outputSchema":{"type":"object"}})"s;

} // namespace

TEST(generate_request, it_is_written_in_full_and_read_back) {
  EXPECT_EQ(to_json_text(full()), full_text);
  EXPECT_EQ(parse_json<ai::generate_request>(full_text), full());
}

TEST(generate_request, what_is_empty_is_left_out_and_read_as_empty) {
  const ai::generate_request empty;
  EXPECT_EQ(to_json_text(empty), R"({"toolChoice":"automatic","config":{}})");
  EXPECT_EQ(parse_json<ai::generate_request>("{}"), empty);
  EXPECT_EQ(to_json_text(ai::tool_definition{"clock"}), R"({"name":"clock"})");
}

TEST(generate_request, it_shares_the_messages_of_the_conversation) {
  const ai::message_log log{{ai::user_text("a"), ai::model_text("b")}};
  const ai::generate_request request{log};
  EXPECT_TRUE(request.messages.same_as(log));
  const auto copy = request;
  EXPECT_TRUE(copy.messages.same_as(log));
}

TEST(generate_request, what_does_not_fit_is_refused_with_its_path) {
  EXPECT_TRUE(has(error_text([] {
                    (void)parse_json<ai::generate_request>(
                      R"({"toolChoice":"perhaps"})");
                  }),
                  "invalid_argument: ", "$.toolChoice"));
  const auto config = error_of([] {
    (void)parse_json<ai::generate_request>(R"({"config":{"topK":"many"}})");
  });
  EXPECT_TRUE(has(config.message(), "$.config.topK"));
}

TEST(generate_request, it_has_a_schema_that_requires_what_is_never_left_out) {
  const auto schema = schema_of<ai::generate_request>();
  EXPECT_EQ(schema.at("required"), json({"toolChoice", "config"}));
}

} // namespace tertulia::test::generate_request_tests
