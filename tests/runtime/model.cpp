// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/ai/define_model.hpp>
#include <tertulia/schema.hpp>
#include <tertulia/span_recorder.hpp>

#include "support/flows.hpp"
#include "support/refusal.hpp"

using namespace std::literals;

namespace tertulia::test::model_tests {

namespace {

struct model : flows {
  /// Defines a model that repeats the last message, one byte per chunk.
  ai::model define_parrot() {
    return ai::define_model(
      *rt, "parrot",
      [this](context ctx, ai::generate_request request, ai::model_output out) //
      -> task<ai::model_response> {
        const departure here{left};
        last = request;
        const auto text = request.messages.back().text();
        for (std::size_t i = 0; i < text.size(); ++i) {
          co_await out.send_text(text.substr(i, 1));
          ++sent;
        }
        co_await ctx.sleep(250ms);
        ai::model_response answer{ai::model_text(text),
                                  ai::finish_reason::stop};
        answer.usage.emplace(3, 1);
        co_return answer;
      },
      "says it again");
  }

  static ai::generate_request asking(std::string text) {
    return ai::generate_request{
      ai::message_log{{ai::user_text(std::move(text))}}};
  }

  ai::generate_request last;
  std::size_t sent = 0;
  int left = 0;
  ai::model parrot = define_parrot();
};

} // namespace

// -- definition ---------------------------------------------------------------

TEST_F(model, it_is_registered_with_the_schemas_of_request_and_answer) {
  const auto info = rt->find_action("/model/parrot");
  ASSERT_TRUE(info);
  EXPECT_EQ(*info, parrot.info());
  EXPECT_EQ(info->kind, "model");
  EXPECT_EQ(info->description, "says it again");
  EXPECT_EQ(info->init_schema, schema_of<ai::generate_request>());
  EXPECT_EQ(info->stream_schema, schema_of<ai::model_response_chunk>());
  EXPECT_EQ(info->output_schema, schema_of<ai::model_response>());
  EXPECT_EQ(code_from([&] { define_parrot(); }), errc::already_exists);
}

// -- calls --------------------------------------------------------------------

TEST_F(model, a_body_hears_each_piece_and_gets_the_whole_answer) {
  auto client = open_to([&](context ctx, input<int>,
                            output<std::string> out) //
                        -> task<ai::model_response> {
    co_return co_await parrot.generate(ctx, asking("abc"),
                                       [&](const ai::model_response_chunk& x) {
                                         return out.send(x.text());
                                       });
  });
  EXPECT_EQ(client.received().chunks, (std::vector{"a"s, "b"s, "c"s}));
  advance(250ms);
  ai::model_response expected{ai::model_text("abc"), ai::finish_reason::stop};
  expected.usage.emplace(3, 1);
  expected.latency_ms = 250;
  EXPECT_EQ(client.output(), expected);
  EXPECT_EQ(extra_actors(), 1u) << "the client";
}

TEST_F(model, who_hears_may_be_a_plain_function_or_nobody) {
  std::string received;
  auto client = open_body([&](context ctx) -> task<std::string> {
    const auto hear
      = [&](const ai::model_response_chunk& x) { received += x.text(); };
    const auto first = co_await parrot.generate(ctx, asking("abc"), hear);
    const auto second = co_await parrot.generate(ctx, asking("def"));
    co_return first.text() + second.text();
  });
  advance(250ms);
  advance(250ms);
  EXPECT_EQ(client.output(), "abcdef");
  EXPECT_EQ(received, "abc");
}

TEST_F(model, the_messages_are_shared_with_the_caller) {
  const ai::message_log log{{ai::user_text("abc")}};
  auto client = open_body([&](context ctx) -> task<> {
    ai::generate_request request{log, "Be brief."};
    co_await parrot.generate(ctx, std::move(request));
  });
  EXPECT_TRUE(last.messages.same_as(log));
  EXPECT_EQ(last.system, "Be brief.");
}

TEST_F(model, it_waits_for_a_caller_that_lags) {
  auto client = open_body([&](context ctx) -> task<> {
    const auto hear
      = [=](const ai::model_response_chunk&) { return ctx.sleep(1h); };
    co_await parrot.generate(ctx, asking(std::string(100'000, 'x')), hear);
  });
  EXPECT_GT(sent, 0u);
  EXPECT_LE(sent, 128u);
}

TEST_F(model, it_runs_by_key_with_json) {
  const auto init = to_json(asking("ab"));
  auto client = open(rt->action("/model/parrot"), with_init(init));
  advance(250ms);
  EXPECT_EQ(client.received().chunks,
            (std::vector{json::parse(R"({"content":[{"text":"a"}],)"
                                     R"("role":"model","index":0})"),
                         json::parse(R"({"content":[{"text":"b"}],)"
                                     R"("role":"model","index":0})")}));
  EXPECT_EQ(from_json<ai::model_response>(client.output()).text(), "ab");
}

TEST_F(model, what_it_does_not_stream_is_heard_at_the_end) {
  const auto silent
    = ai::define_model(*rt, "silent",
                       [](context, ai::generate_request question,
                          ai::model_output out) -> task<ai::model_response> {
                         const auto text = question.messages.back().text();
                         co_await out.send_text(text.substr(0, 2));
                         auto answer = ai::model_text(text);
                         answer.content.push_back(ai::part::request("add"));
                         co_return ai::model_response{std::move(answer)};
                       });
  auto client = open(silent.action(), with_init{asking("abcd")});
  const auto& received = client.received().chunks;
  ASSERT_EQ(received.size(), 2u);
  EXPECT_EQ(received[0].text(), "ab");
  EXPECT_EQ(received[1].text(), "cd");
  EXPECT_EQ(received[1].content.size(), 2u);
  EXPECT_EQ(client.output().text(), "abcd");
}

// -- failures -----------------------------------------------------------------

TEST_F(model, a_member_that_no_request_has_is_refused) {
  auto config = to_json(asking("ab"));
  config["config"]["temprature"] = 0.5;
  auto request = to_json(asking("ab"));
  request["instructions"] = "Be brief.";
  for (const auto& init : {config, request}) {
    auto client = open(rt->action("/model/parrot"), with_init(init));
    EXPECT_EQ(code_of(client.received().refused), errc::invalid_argument)
      << init;
  }
}

TEST_F(model, a_request_that_makes_no_sense_is_refused_before_the_body) {
  std::vector<std::string> refusals;
  auto client = open_body([&](context ctx) -> task<> {
    auto nameless = asking("a");
    nameless.tools.emplace_back();
    auto twice = asking("a");
    twice.tools.emplace_back("clock");
    twice.tools.emplace_back("clock");
    auto none = asking("a");
    none.tool_choice = ai::tool_choice::required;
    const ai::generate_request empty;
    for (const auto& request : {nameless, twice, none, empty}) {
      const auto answer = co_await as_expected(parrot.generate(ctx, request));
      refusals.push_back(to_status(answer.error()).message());
      EXPECT_EQ(code_of(answer.error()), errc::invalid_argument);
    }
  });
  EXPECT_EQ(client.code(), errc::ok);
  EXPECT_EQ(refusals, (std::vector{"a tool has no name"s,
                                   "two tools have the name clock"s,
                                   "a tool is required, and there is none"s,
                                   "there is nothing to answer"s}));
  EXPECT_EQ(left, 0);
}

TEST_F(model, its_error_reaches_the_caller_after_the_pieces_before_it) {
  const auto broken = ai::define_model(
    *rt, "broken",
    [](context, ai::generate_request, ai::model_output out) //
    -> task<ai::model_response> {
      co_await out.send_text("so far");
      throw status_error{errc::unavailable, "the line is cut"};
    });
  auto client
    = open_to([=](context ctx, input<int>, output<std::string> out) -> task<> {
        co_await broken.generate(ctx, asking("a"),
                                 [&](const ai::model_response_chunk& x) {
                                   return out.send(x.text());
                                 });
      });
  EXPECT_EQ(client.received().chunks, std::vector{"so far"s});
  EXPECT_EQ(client.code(), errc::unavailable);
}

TEST_F(model, a_cancel_of_the_caller_unwinds_it) {
  auto client = open_body([&](context ctx) -> task<> {
    co_await parrot.generate(ctx, asking("abc"));
  });
  EXPECT_EQ(left, 0);
  client.cancel();
  EXPECT_EQ(client.code(), errc::cancelled);
  EXPECT_EQ(left, 1);
  EXPECT_EQ(extra_actors(), 1u);
}

TEST_F(model, who_hears_and_throws_cancels_it) {
  auto client = open_to([&](context ctx, input<int> in, output<int>) //
                        -> task<> {
    const auto hear = [](const ai::model_response_chunk&) {
      throw status_error{errc::data_loss, "cannot hear"};
    };
    const auto answer
      = co_await as_expected(parrot.generate(ctx, asking("abc"), hear));
    EXPECT_EQ(code_of(answer.error()), errc::data_loss);
    co_await in.next();
  });
  EXPECT_EQ(left, 1);
  EXPECT_EQ(extra_actors(), 2u);
}

// -- trace --------------------------------------------------------------------

TEST_F(model, its_span_is_a_child_of_the_step_that_called_it) {
  const auto recorder = std::make_shared<span_recorder>();
  const auto listening = rt->traces().listen(recorder);
  auto client = open_body([&](context ctx) -> task<> {
    co_await ctx.run_step("ask", [&](context step) {
      return parrot.generate(step, asking("abc"));
    });
  });
  advance(250ms);
  const auto step = recorder->find("ask");
  ASSERT_TRUE(step);
  const auto called = recorder->children_of(step->context.span);
  ASSERT_EQ(called.size(), 1u);
  EXPECT_EQ(called[0]->name, "/model/parrot");
}

} // namespace tertulia::test::model_tests
