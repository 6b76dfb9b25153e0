// SPDX-License-Identifier: BSD-3-Clause

// Inputs that travel with an opening.

#include <tertulia/json.hpp>

#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "support/actor_clients.hpp"
#include "support/lost_links.hpp"
#include "support/refusal.hpp"

using namespace std::literals;

namespace tertulia::test::first_input_tests {

namespace {

using strings = std::vector<std::string>;

struct first_inputs : actor_client_of {
  /// Sends a request to open, and returns how it is refused.
  std::string refusal_of(const open_request& question) {
    std::string result;
    const auto asker = system.spawn<caf::hidden>(
      [&](caf::event_based_actor* self) -> caf::behavior {
        auto asked = question;
        asked.client
          = caf::actor_cast<chunk_sink>(caf::strong_actor_ptr{self->ctrl()});
        self->request(rt->front_desk(), caf::infinite, std::move(asked))
          .then([](const open_result&) {},
                [&result, self](const caf::error& x) {
                  result = to_status(x).message();
                  self->quit();
                });
        return {[](const completion&) {}};
      });
    run();
    caf::anon_send_exit(asker, caf::exit_reason::user_shutdown);
    run();
    return result;
  }
};

} // namespace

TEST_F(first_inputs, are_taken_without_a_message_of_their_own) {
  auto client = open(define_thrice(), with_all_inputs("a"));
  EXPECT_EQ(client.received().input_credit, 2u)
    << "one of the opening, and one for the input that was taken";
  EXPECT_EQ(client.received().chunks, (strings{"a.", "a!", "a?"}));
  EXPECT_EQ(client.output(), "bye");
}

TEST_F(first_inputs, leave_the_connection_open) {
  auto client = open_client(define_thrice(), with_inputs("a", "b"));
  run();
  EXPECT_EQ(client.log->turns, 2);
  EXPECT_TRUE(client.log->outputs.empty());
  client->send("c");
  client->close();
  run();
  EXPECT_EQ(client.log->turns, 3);
  EXPECT_EQ(client.log->outputs, strings{"bye"});
}

TEST_F(first_inputs, cost_their_credit) {
  auto client
    = open_client(define([](context ctx, input<std::string> in,
                            output<std::string>) -> task<std::string> {
                    co_await ctx.sleep(1h);
                    std::string all;
                    while (auto text = co_await in.next())
                      all += *text;
                    co_return all;
                  }),
                  with_inputs("a", "b"), with_input_window{3});
  run();
  EXPECT_TRUE(client->has_credit());
  client->send("c");
  EXPECT_FALSE(client->has_credit());
  client->send("d");
  EXPECT_EQ(client->unsent_inputs(), 1u);
  client->close();
  advance(1h);
  EXPECT_EQ(client.log->outputs, strings{"abcd"});
}

TEST_F(first_inputs, that_are_all_close_the_input) {
  auto client = open_client(define_sleeper(), with_all_inputs("a", "b"));
  EXPECT_EQ(error_text([&] { client->send("late"); }),
            "failed_precondition: the input is closed");
  run();
  EXPECT_FALSE(client->has_credit());
  auto unread = std::uint64_t{0};
  client->at_end = [&](auto& self) { unread = self.unread_inputs(); };
  advance(1h);
  EXPECT_EQ(client.log->outputs, strings{"slept"});
  EXPECT_EQ(unread, 2u);
}

TEST_F(first_inputs, of_another_shape_are_refused_before_anything_is_open) {
  auto opened = 0;
  const auto flow = define([&](context, input<int>, output<int>) -> task<int> {
    ++opened;
    co_return 0;
  });
  open_request question{flow.info().key, {}, {}, {}};
  question.inputs = {payload::of(json("no number"))};
  EXPECT_EQ(refusal_of(question), "$: expected an integer, found a string");
  EXPECT_EQ(opened, 0);
  EXPECT_EQ(extra_actors(), 0u);
}

TEST_F(first_inputs, beyond_the_window_are_refused) {
  open_request question{define_thrice().info().key, {}, {}, {}};
  question.inputs.assign(2, payload::of("a"s));
  EXPECT_EQ(refusal_of(question),
            "$.inputs: has more than there is credit for");
  question.options.input_window = 2;
  question.options.resume_after = 0;
  EXPECT_EQ(refusal_of(question), "$.inputs: has more than there is credit for")
    << "the input of the turn that is finished takes the place of one";
  question.options.resume_after.reset();
  question.options.turn = turn_id{"t"};
  EXPECT_EQ(refusal_of(question),
            "$.inputs: a turn with a name begins with one input");
  EXPECT_EQ(extra_actors(), 0u);
}

TEST_F(first_inputs, of_a_client_that_attaches_are_refused_by_the_desk) {
  open_request question{define_thrice().info().key, {}, {}, {}};
  question.options.attach.emplace().run = run_id{"r"};
  question.closes = true;
  EXPECT_EQ(refusal_of(question),
            "$: a client that attaches sends its inputs and the close itself");
}

TEST_F(first_inputs, of_an_actor_that_attaches_wait_for_the_answer) {
  const auto flow = define_thrice();
  auto first = open_client(flow, with_keep{});
  run();
  const auto run_of_first = first->position().run;
  ASSERT_TRUE(run_of_first);
  auto second
    = open_client(flow, with_run(run_of_first), with_all_inputs("a", "b"));
  run();
  EXPECT_EQ(second.log->turns, 2);
  EXPECT_EQ(second.log->outputs, strings{"bye"});
}

TEST_F(first_inputs, of_a_cancelled_client_are_forgotten) {
  const auto flow = define_thrice();
  auto first = open_client(flow, with_keep{});
  run();
  auto second = open_client(flow, with_run(first->position().run),
                            with_all_inputs("a", "b"));
  second->cancel();
  run();
  EXPECT_EQ(second.log->turns, 0);
  EXPECT_EQ(second.log->errors.size(), 1u);
}

TEST_F(first_inputs, of_a_body_reach_a_flow) {
  const auto inner = define_thrice();
  auto client = open_body([inner](context ctx) -> task<int> {
    auto talk = co_await inner.open(ctx, with_all_inputs("a"));
    int count = 0;
    do {
      while (auto chunk = co_await talk.next())
        ++count;
    } while (!talk.finished());
    co_return count;
  });
  EXPECT_EQ(client.output(), 3);
}

// -- documents that become inputs ---------------------------------------------

TEST_F(first_inputs, as_documents_have_the_errors_of_their_text) {
  const auto code_of_double = [](json x) {
    return code_from([&] {
      (void)payload::of(std::move(x)).template as<std::vector<double>>();
    });
  };
  EXPECT_EQ(code_of_double({1, 2.5}), errc::ok);
  const auto whole = payload::of(json(1e17)).as<std::int64_t>();
  EXPECT_EQ(whole.text(), "100000000000000000") << "beyond 2^53 as a float";
  using number = std::variant<int, double>;
  EXPECT_EQ(payload::of(json(1.0)).as<number>().get_if<number>()->index(), 0u);
  EXPECT_EQ(code_of_double({std::numeric_limits<double>::quiet_NaN()}),
            errc::invalid_argument);
  EXPECT_EQ(
    code_from([&] { (void)payload::of(json("\xff")).as<std::string>(); }),
    errc::invalid_argument);
  EXPECT_EQ(code_from([&] {
              (void)payload::of(json{{"\xff", "x"}})
                .as<std::map<std::string, std::string>>();
            }),
            errc::invalid_argument);
  json deep = 1;
  for (std::size_t i = 0; i <= max_json_depth; ++i)
    deep = json::array({deep});
  EXPECT_EQ(code_of_double(deep), errc::invalid_argument);
}

// -- another node -------------------------------------------------------------

using far_first_inputs = lost_links;

TEST_F(far_first_inputs, open_and_end_a_run_in_one_round_trip) {
  auto talk = counter().stream_bidi(with_all_inputs(2, 3));
  std::vector<int> all;
  do {
    for (const auto x : talk.responses(patience))
      all.push_back(x);
  } while (!talk.finished());
  EXPECT_EQ(all, (std::vector<int>{0, 1, 2, 3, 4}));
  EXPECT_EQ(talk.output(patience), 5);
}

TEST_F(far_first_inputs, are_taken_once_by_a_run_whose_link_is_lost) {
  constexpr int chunks = 1'000;
  auto talk
    = counter().stream_bidi(with_keep(1min), with_all_inputs(chunks, chunks));
  std::vector<int> all;
  do {
    for (const auto x : talk.responses(patience)) {
      all.push_back(x);
      if (all.size() % 300 == 0)
        link->cut();
    }
  } while (!talk.finished());
  EXPECT_EQ(all.size(), 2u * chunks);
  EXPECT_EQ(talk.output(patience), 2 * chunks);
  EXPECT_EQ(inputs, 2);
}

} // namespace tertulia::test::first_input_tests
