// SPDX-License-Identifier: BSD-3-Clause

// The spans of a turn with two tools, one of which asks a person: the table in
// docs/engine.md, and the names that OpenTelemetry has published.

#include <tertulia/ai/define_model.hpp>
#include <tertulia/ai/prompt_agent.hpp>
#include <tertulia/span_recorder.hpp>

#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "support/conversations.hpp"

namespace tertulia::test::agent_spans_tests {

namespace {

/// Attributes of OpenTelemetry's conventions for generative AI, version 1.41,
/// that spans of agents, models and tools may have.
const std::set<std::string> published{
  "gen_ai.agent.description",
  "gen_ai.agent.id",
  "gen_ai.agent.name",
  "gen_ai.conversation.id",
  "gen_ai.data_source.id",
  "gen_ai.input.messages",
  "gen_ai.operation.name",
  "gen_ai.output.messages",
  "gen_ai.output.type",
  "gen_ai.provider.name",
  "gen_ai.request.choice.count",
  "gen_ai.request.frequency_penalty",
  "gen_ai.request.max_tokens",
  "gen_ai.request.model",
  "gen_ai.request.presence_penalty",
  "gen_ai.request.seed",
  "gen_ai.request.stop_sequences",
  "gen_ai.request.temperature",
  "gen_ai.request.top_k",
  "gen_ai.request.top_p",
  "gen_ai.response.finish_reasons",
  "gen_ai.response.id",
  "gen_ai.response.model",
  "gen_ai.system_instructions",
  "gen_ai.tool.call.arguments",
  "gen_ai.tool.call.id",
  "gen_ai.tool.call.result",
  "gen_ai.tool.definitions",
  "gen_ai.tool.description",
  "gen_ai.tool.name",
  "gen_ai.tool.type",
  "gen_ai.usage.input_tokens",
  "gen_ai.usage.output_tokens",
};

/// Values of `gen_ai.operation.name` that OpenTelemetry has published.
const std::set<std::string> operations{"chat",
                                       "create_agent",
                                       "embeddings",
                                       "execute_tool",
                                       "generate_content",
                                       "invoke_agent",
                                       "invoke_workflow",
                                       "text_completion"};

/// Model that requests both tools.
task<ai::model_response> request_tools(context, ai::generate_request,
                                       ai::model_output) {
  ai::model_response result{
    ai::message{ai::role::model,
                {ai::part::request("weather", {{"city", "Oslo"}}),
                 ai::part::request("book", {{"city", "Oslo"}})}},
    ai::finish_reason::stop};
  result.usage = ai::generation_usage{7, 5};
  co_return result;
}

struct place {
  std::string city;
};
BOOST_DESCRIBE_STRUCT(place, (), (city))

struct agent_spans : conversations {
  auto define_guide(ai::model_config config = {}) {
    const auto model = ai::define_model(*rt, "star", request_tools);
    const auto weather = ai::define_tool(
      *rt, "weather", "Says how the weather is.",
      [](ai::tool_context, place) -> task<std::string> { co_return "sunny"; });
    const auto book
      = ai::define_tool(*rt, "book", "Books a room.",
                        [](ai::tool_context ctx, place) -> task<json> {
                          co_return co_await ctx.interrupt("really?");
                        });
    return ai::define_prompt_agent(
      *rt, "guide",
      ai::prompt{model, ai::with_tools(weather, book), ai::with_config(config)},
      with_snapshot_store(store), with_description("Shows the town."));
  }

  /// Returns a row of the table: the name of a span and its attributes.
  static std::string row_of(const span_data& x) {
    std::string result = "| `" + x.name + "` |";
    auto is_first = true;
    for (const auto& [key, value] : x.attributes) {
      result += is_first ? " `" : ", `";
      result += key + '`';
      is_first = false;
    }
    return result + " |";
  }

  static std::string text_at(const span_data& x, std::string_view key) {
    const auto* found = x.find(key);
    if (found == nullptr)
      return "(none)";
    if (const auto* text = std::get_if<std::string>(found))
      return *text;
    if (const auto* number = std::get_if<std::int64_t>(found))
      return std::to_string(*number);
    if (const auto* all = std::get_if<std::vector<std::string>>(found))
      return all->empty() ? "(empty)" : all->front();
    return "(other)";
  }
};

} // namespace

TEST_F(agent_spans, are_those_of_the_table_in_the_docs) {
  const auto recorder = listen();
  ai::model_config config;
  config.max_output_tokens = 100;
  config.temperature = 0.5;
  const auto said
    = define_guide(config).run_text("A room in Oslo!", my_session);
  ASSERT_EQ(said.finish_reason, ai::finish_reason::interrupted);
  ASSERT_TRUE(nothing_is_left());
  std::ifstream page{TERTULIA_SOURCE_DIR "/docs/engine.md"};
  std::ostringstream docs;
  docs << page.rdbuf();
  EXPECT_EQ(recorder->spans().size(), 6u);
  for (const auto& x : recorder->spans()) {
    EXPECT_NE(docs.str().find(row_of(*x)), std::string::npos)
      << "docs/engine.md lacks the row\n"
      << row_of(*x);
    for (const auto& [key, value] : x->attributes)
      if (key.starts_with("gen_ai.")) {
        EXPECT_TRUE(published.contains(key)) << key;
      }
    if (x->find("gen_ai.operation.name") != nullptr) {
      EXPECT_TRUE(operations.contains(text_at(*x, "gen_ai.operation.name")));
    }
  }
}

TEST_F(agent_spans, say_what_happened) {
  const auto recorder = listen();
  const auto said = define_guide().run_text("A room in Oslo!", my_session);
  ASSERT_TRUE(nothing_is_left());
  const auto root = recorder->find("/session-flow/guide");
  ASSERT_TRUE(root);
  EXPECT_EQ(to_string(root->context.trace), said.trace_id);
  EXPECT_EQ(text_at(*root, "gen_ai.operation.name"), "invoke_agent");
  EXPECT_EQ(text_at(*root, "gen_ai.conversation.id"), "mine");
  EXPECT_EQ(text_at(*root, "gen_ai.agent.name"), "guide");
  const auto turn = recorder->find("sessionFlow/turn");
  EXPECT_EQ(turn->parent, root->context.span);
  EXPECT_EQ(text_at(*turn, "tertulia.turn.index"), "0");
  EXPECT_EQ(text_at(*turn, "gen_ai.response.finish_reasons"), "interrupted");
  EXPECT_EQ(text_at(*turn, "genkit:metadata:snapshotId"),
            said.snapshot_id.str());
  const auto model = recorder->find("/model/star");
  EXPECT_EQ(text_at(*model, "gen_ai.request.model"), "star");
  EXPECT_EQ(text_at(*model, "gen_ai.usage.input_tokens"), "7");
  EXPECT_EQ(text_at(*model, "gen_ai.usage.output_tokens"), "5");
  EXPECT_EQ(text_at(*model, "gen_ai.response.finish_reasons"), "stop");
  const auto weather = recorder->find("/tool/weather");
  EXPECT_EQ(text_at(*weather, "gen_ai.tool.name"), "weather");
  EXPECT_EQ(text_at(*weather, "genkit:input"), R"({"city":"Oslo"})");
  EXPECT_EQ(text_at(*weather, "genkit:output"), R"("sunny")");
}

TEST_F(agent_spans, a_tool_that_waits_for_a_person_has_not_failed) {
  const auto recorder = listen();
  (void)define_guide().run_text("A room in Oslo!");
  ASSERT_TRUE(nothing_is_left());
  for (const auto& x : recorder->spans())
    EXPECT_EQ(x->status, errc::ok) << x->name;
  const auto book = recorder->find("/tool/book");
  ASSERT_EQ(book->events.size(), 1u);
  EXPECT_EQ(book->events.front().name, "interrupted");
}

TEST_F(agent_spans, inputs_and_outputs_can_be_redacted) {
  runtime_options options;
  options.redact_span = [](std::string_view attribute, json& value) {
    if (attribute == "genkit:input" && value.is_object()
        && value.contains("city"))
      value["city"] = "***";
    if (attribute == "genkit:output")
      throw std::runtime_error("not for the log");
  };
  restart(options);
  const auto recorder = listen();
  (void)define_guide().run_text("A room in Oslo!");
  ASSERT_TRUE(nothing_is_left());
  const auto weather = recorder->find("/tool/weather");
  EXPECT_EQ(text_at(*weather, "genkit:input"), R"({"city":"***"})");
  EXPECT_EQ(weather->find("genkit:output"), nullptr);
  ASSERT_EQ(weather->events.size(), 1u);
  EXPECT_EQ(weather->events.front().name, "value not recorded");
}

TEST_F(agent_spans, inputs_and_outputs_have_a_limit) {
  runtime_options options;
  options.max_span_value = 11;
  restart(options);
  auto recorder = listen();
  const auto speak = [&](const std::string& city) {
    const auto shout
      = ai::define_tool(*rt, "shout" + std::to_string(city.size()), "",
                        [](ai::tool_context, place x) -> task<std::string> {
                          co_return x.city + x.city;
                        });
    rt->stream_bidi(shout.info().key, with_init{json{{"city", city}}}).output();
    EXPECT_TRUE(nothing_is_left());
    return text_at(*recorder->spans().back(), "genkit:output");
  };
  EXPECT_EQ(speak("Oslo"), R"("OsloOslo")");
  EXPECT_EQ(speak("Köln am"), "\"Köln amK…") << "no character is cut in two";
}

} // namespace tertulia::test::agent_spans_tests
