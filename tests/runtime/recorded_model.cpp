// SPDX-License-Identifier: BSD-3-Clause

// Answers of a model in a file, and their replay.

#include <tertulia/ai/prompt_agent.hpp>
#include <tertulia/testing/recorded_model.hpp>

#include <fstream>
#include <string>

#include "support/has.hpp"
#include "support/refusal.hpp"
#include "support/scratch.hpp"
#include "support/scripted_model.hpp"

namespace tertulia::test::recorded_model_tests {

namespace {

struct recorded_model : generating {
  /// Asks an agent of this model two questions and returns its answers.
  template <class Model>
  std::string talk_to(const std::string& name, const Model& which) {
    auto client = open(ai::define_prompt_agent(
      *rt, name, ai::prompt{which, ai::with_tools(add)}));
    client.say("1 + 2?");
    auto result = client.text();
    client.say("Thank you.");
    return result + ' ' + client.text();
  }

  auto record() {
    answers(asks("add", 1, 2), "Three.", "My pleasure.");
    return talk_to("recording", testing::recording_model{model(), file});
  }

  scratch folder;
  std::filesystem::path file = folder / "answers.jsonl";
  ai::typed_tool<sum, int> add = define_add();
};

} // namespace

TEST_F(recorded_model, answers_as_the_recorded_one_did) {
  EXPECT_EQ(record(), "Three. My pleasure.");
  testing::recorded_model again{file};
  EXPECT_EQ(talk_to("replay", again), "Three. My pleasure.");
  EXPECT_TRUE(again.is_over());
}

TEST_F(recorded_model, another_request_is_refused_with_the_difference) {
  record();
  testing::recorded_model again{file};
  auto client = open(ai::define_prompt_agent(
    *rt, "replay", ai::prompt{again, ai::with_tools(add)}));
  client.say("1 + 3?");
  EXPECT_EQ(client.error().code(), errc::failed_precondition);
  EXPECT_TRUE(
    has(client.error().message(), "answers.jsonl:1: another request"));
  EXPECT_TRUE(has(client.error().details(), "1 + 3?", "/messages/0"));
  EXPECT_FALSE(again.is_over());
}

TEST_F(recorded_model, after_the_last_answer_it_is_over) {
  record();
  testing::recorded_model again{file};
  talk_to("replay", again);
  auto client = open(rt->action("/session-flow/replay"));
  client.send(to_json(ai::conversation_input{
    std::vector<ai::message>(1, ai::user_text("More."))}));
  EXPECT_EQ(client.error().code(), errc::out_of_range);
}

TEST_F(recorded_model, a_file_that_is_none_is_an_error) {
  EXPECT_EQ(error_of([&] { testing::recorded_model{folder / "none"}; }).code(),
            errc::not_found);
  record();
  std::ofstream{file, std::ios::app} << "{\"request\":5}\n";
  const auto damaged = error_of([&] { testing::recorded_model{file}; });
  EXPECT_EQ(damaged.code(), errc::data_loss);
  EXPECT_TRUE(has(damaged.message(), "answers.jsonl:4: "));
}

TEST_F(recorded_model, a_file_that_cannot_be_written_is_an_error) {
  answers("Hello.");
  auto client = open(ai::define_prompt_agent(
    *rt, "recording",
    ai::prompt{testing::recording_model{model(), folder / "no" / "file"}}));
  client.say("Hi");
  EXPECT_EQ(client.error().code(), errc::unavailable);
}

} // namespace tertulia::test::recorded_model_tests
