// SPDX-License-Identifier: BSD-3-Clause

// A refusal of the model reaches the user as an answer.

#include <tertulia/describe.hpp>

#include <memory>
#include <string>

#include "support/scripted_model.hpp"

namespace tertulia::test::generate_refusal_tests {

namespace {

/// Model that sends the beginning of an answer, if not empty, and then refuses.
struct unwilling_model {
  template <class Hear>
  [[nodiscard]] task<ai::model_response>
  generate(const context&, ai::generate_request, Hear) const {
    return refuse(begun, reason);
  }

  [[nodiscard]] task<ai::model_response> generate(const context&,
                                                  ai::generate_request) const {
    return refuse(begun, reason);
  }

  static task<ai::model_response> refuse(std::string begun,
                                         std::string reason) {
    ai::model_response result;
    if (!begun.empty())
      result.message = ai::model_text(begun);
    result.finish_reason = ai::finish_reason::blocked;
    result.finish_message = reason;
    co_return result;
  }

  std::string begun;
  std::string reason;
};

struct verdict {
  bool good = false;
};
BOOST_DESCRIBE_STRUCT(verdict, (), (good))

struct generate_refusals : generating {
  ai::generation made_by(unwilling_model model) {
    auto result = std::make_shared<ai::generation>();
    const auto client = open_body([this, result, model](context ctx) -> task<> {
      const auto hear = [this](const ai::model_response_chunk& x) {
        pieces.push_back(x.text());
      };
      *result = co_await ai::generate_stream(ctx, model, hear,
                                             ai::with_user_text("Well?"));
    });
    run();
    EXPECT_FALSE(client.received().end.value().reason);
    return *result;
  }

  lines pieces;
};

} // namespace

TEST_F(generate_refusals, are_streamed_and_kept_as_an_answer) {
  const auto made = made_by(unwilling_model{"", "I would rather not."});
  EXPECT_EQ(pieces, lines{"I would rather not."});
  EXPECT_EQ(made.text(), "I would rather not.");
  EXPECT_EQ(made.response.finish_reason, ai::finish_reason::blocked);
  EXPECT_EQ(lines_of(made.messages),
            (lines{"user: Well?", "model: I would rather not."}));
}

TEST_F(generate_refusals, follow_what_was_said_before) {
  const auto made = made_by(unwilling_model{"You need ", "No."});
  EXPECT_EQ(pieces, lines{"You need No."}) << "what it did not stream, too";
  EXPECT_EQ(lines_of(made.messages),
            (lines{"user: Well?", "model: You need  No."}));
}

TEST_F(generate_refusals, without_a_reason_are_no_answer) {
  const auto made = made_by(unwilling_model{});
  EXPECT_EQ(pieces, lines{});
  EXPECT_FALSE(made.response.message);
  EXPECT_EQ(lines_of(made.messages), lines{"user: Well?"});
}

TEST_F(generate_refusals, are_no_value) {
  const auto client = open_body([](context ctx) -> task<> {
    const unwilling_model model{"", R"({"good":true})"};
    static_cast<void>(co_await ai::generate<verdict>(
      ctx, model, ai::with_user_text("Is it good?")));
  });
  run();
  const auto failure = client.error();
  EXPECT_EQ(failure.code(), errc::failed_precondition);
  EXPECT_TRUE(failure.message().ends_with(R"(: {"good":true})"));
}

} // namespace tertulia::test::generate_refusal_tests
