// SPDX-License-Identifier: BSD-3-Clause

// Turns that were cut off, turns with a name, and the names of calls.

#include <tertulia/ai/prompt_agent.hpp>
#include <tertulia/ask_store.hpp>

#include <mutex>
#include <string>
#include <vector>

#include "support/conversations.hpp"
#include "support/refusal.hpp"
#include "support/scripted_model.hpp"

using namespace std::literals;

namespace tertulia::test::resumed_turn_tests {

namespace {

using strings = std::vector<std::string>;

using clerk_type = ai::session_flow<nothing, nothing>;

const session_id errands{"errands"};

struct resumed_turns : conversations {
  /// Defines an agent whose model gives these answers. When they are over, its
  /// turn fails.
  template <class... Answers>
  clerk_type define_clerk(Answers... answers) {
    (model.add(std::move(answers)), ...);
    const auto act = ai::define_tool(
      *rt, "act", "", [this](ai::tool_context ctx, nothing) -> task<int> {
        co_return note(ctx.call_id());
      });
    const auto ask = ai::define_tool(
      *rt, "ask", "", [this](ai::tool_context ctx, nothing) -> task<json> {
        note(ctx.call_id());
        co_return co_await ctx.interrupt("really?");
      });
    return ai::define_prompt_agent(*rt, "clerk",
                                   ai::prompt{model, ai::with_tools(act, ask)},
                                   with_snapshot_store(store));
  }

  /// Notes the name of a call; calls of one answer run at the same time.
  /// @returns the number of calls so far.
  int note(const std::string& call) {
    const std::lock_guard guard{mutex};
    calls.push_back(call);
    return static_cast<int>(calls.size());
  }

  /// Takes a turn that is cut off after its first tool.
  template <class... Options>
  void cut_off(const clerk_type& clerk, const Options&... options) {
    EXPECT_EQ(code_from([&] {
                (void)clerk.run_text("go", with_session_id(errands),
                                     options...);
              }),
              errc::out_of_range);
    ASSERT_EQ(calls.size(), 1u);
    model.add("not said: the script was over");
  }

  static ai::part request(const char* tool = "act", const char* ref = "r") {
    return ai::part::request(tool, json::object(), ref);
  }

  testing::scripted_model model{};
  std::mutex mutex;
  strings calls;
};

strings said_in(const ai::message_log& all) {
  strings result;
  for (const auto& x : all)
    if (!x.text().empty())
      result.push_back(to_string(x.role) + ": " + x.text());
  return result;
}

} // namespace

// -- turns that were cut off --------------------------------------------------

TEST_F(resumed_turns, a_turn_that_was_cut_off_is_finished) {
  const auto clerk = define_clerk(request());
  cut_off(clerk);
  model.add("all done");
  const auto result = clerk.resume(errands);
  EXPECT_EQ(result.text, "all done");
  EXPECT_EQ(said_in(result.output.state.messages),
            (strings{"user: go", "model: all done"}));
  EXPECT_EQ(calls.size(), 1u) << "its response was stored";
  EXPECT_EQ(clerk.snapshots(errands).back().turn_index, 0u);
}

TEST_F(resumed_turns, without_one_nothing_is_resumed) {
  const auto clerk = define_clerk("hello");
  (void)clerk.run_text("hi", with_session_id(errands));
  const auto result = clerk.resume(errands);
  EXPECT_EQ(result.text, "");
  EXPECT_EQ(model.requests().size(), 1u);
}

TEST_F(resumed_turns, what_is_not_resumed_is_as_ever) {
  const auto clerk = define_clerk(request());
  cut_off(clerk);
  model.add("hello");
  const auto result = clerk.run_text("hi", with_session_id(errands));
  EXPECT_EQ(said_in(result.output.state.messages),
            (strings{"user: go", "user: hi", "model: hello"}));
}

TEST_F(resumed_turns, the_inputs_of_a_conversation_are_counted) {
  const auto clerk = define_clerk("one", "two");
  (void)clerk.run_text("1", with_session_id(errands));
  (void)clerk.run_text("2", with_session_id(errands));
  const auto page = tertulia::ask_store(
    system, store, list_snapshots_request{{clerk.info().key, errands}});
  ASSERT_EQ(page.snapshots.size(), 2u);
  EXPECT_EQ(page.snapshots[0].record.inputs, 1u);
  EXPECT_EQ(page.snapshots[1].record.inputs, 2u);
}

TEST_F(resumed_turns, an_action_that_stores_no_turns_resumes_none) {
  const auto chat = ai::define_session_flow(*rt, "forgets", repeat_in_turns);
  EXPECT_EQ(code_from([&] { (void)chat.stream_bidi(with_resume{}); }),
            errc::failed_precondition);
  const auto flow = rt->define_bidi_flow(
    "plain",
    [](context, input<int>, output<int>) -> task<int> { co_return 1; });
  EXPECT_EQ(code_from([&] {
              (void)rt->stream_bidi(flow.info().key, with_turn_id("t"));
            }),
            errc::failed_precondition);
}

// -- turns with a name --------------------------------------------------------

TEST_F(resumed_turns, a_turn_with_a_name_is_taken_once) {
  const auto clerk = define_clerk("hello", "and bye");
  const auto ask = [&](const char* text, const char* turn) {
    return clerk.run_text(text, with_session_id(errands), with_turn_id(turn));
  };
  const auto first = ask("hi", "a");
  const auto again = ask("hi", "a");
  EXPECT_EQ(again.text, "hello");
  EXPECT_EQ(again.snapshot_id, first.snapshot_id);
  EXPECT_EQ(model.requests().size(), 1u);
  EXPECT_EQ(ask("bye", "b").text, "and bye");
  EXPECT_EQ(
    said_in(ask("bye", "b").output.state.messages),
    (strings{"user: hi", "model: hello", "user: bye", "model: and bye"}));
}

TEST_F(resumed_turns, a_turn_with_a_name_is_finished) {
  const auto clerk = define_clerk(request());
  cut_off(clerk, with_turn_id("a"));
  model.add("all done");
  for (int i = 0; i < 2; ++i) {
    const auto result
      = clerk.run_text("go", with_session_id(errands), with_turn_id("a"));
    EXPECT_EQ(result.text, "all done");
    EXPECT_EQ(said_in(result.output.state.messages),
              (strings{"user: go", "model: all done"}));
  }
  EXPECT_EQ(calls.size(), 1u);
}

TEST_F(resumed_turns, a_turn_that_others_have_followed_is_not_taken_again) {
  const auto clerk = define_clerk("one", "two", "three");
  const auto ask = [&](auto... options) {
    return clerk.run_text("hi", with_session_id(errands), options...).text;
  };
  EXPECT_EQ(ask(with_turn_id("a")), "one");
  EXPECT_EQ(ask(), "two");
  EXPECT_EQ(code_from([&] { (void)ask(with_turn_id("a")); }),
            errc::already_exists);
  EXPECT_EQ(ask(with_turn_id("c")), "three");
  EXPECT_EQ(code_from([&] { (void)ask(with_turn_id("a")); }),
            errc::already_exists);
  EXPECT_EQ(ask(with_turn_id("c")), "three");
  EXPECT_EQ(model.requests().size(), 3u);
}

TEST_F(resumed_turns, a_turn_that_was_given_up_is_not_taken_again) {
  const auto clerk = define_clerk(request());
  cut_off(clerk, with_turn_id("a"));
  model.add("hello");
  auto talk = clerk.stream_bidi(with_session_id(errands), with_keep());
  const auto find = [&](auto... options) {
    return clerk
      .stream_bidi(with_session_id(errands), with_turn_id("a"), options...)
      .turn_found();
  };
  EXPECT_EQ(find(with_attach(), as_listener{}), turn_progress::past);
  talk.send_text("hi");
  talk.close();
  (void)talk.output(patience);
  EXPECT_EQ(find(), turn_progress::past);
}

TEST_F(resumed_turns, a_turn_that_was_undone_can_be_taken_again) {
  const auto clerk = define_clerk("one", "two", "other", "and more");
  const auto ask = [&](const char* turn) {
    return clerk.run_text("hi", with_session_id(errands), with_turn_id(turn));
  };
  const auto first = ask("a");
  EXPECT_EQ(ask("b").text, "two");
  (void)clerk.restore(first.snapshot_id, errands);
  EXPECT_EQ(ask("a").text, "one") << "it is the last one again";
  EXPECT_EQ(ask("b").text, "other");
  EXPECT_EQ(code_from([&] { (void)ask("a"); }), errc::already_exists);
}

TEST_F(resumed_turns, the_turn_of_a_live_run_is_found) {
  const auto clerk = define_clerk("hello");
  auto first = clerk.stream_bidi(with_session_id(errands), with_turn_id("a"),
                                 with_keep());
  EXPECT_EQ(first.turn_found(), turn_progress::not_begun);
  const auto find = [&](const char* turn) {
    return clerk
      .stream_bidi(with_session_id(errands), with_turn_id(turn), with_attach(),
                   as_listener{})
      .turn_found();
  };
  EXPECT_EQ(find("a"), turn_progress::not_begun) << "it has no input";
  first.send_text("hi");
  for (const auto& x : first.responses(patience))
    static_cast<void>(x);
  EXPECT_EQ(find("a"), turn_progress::over);
  EXPECT_EQ(find("b"), turn_progress::not_begun);
  model.add("bye");
  first.send_text("and");
  for (const auto& x : first.responses(patience))
    static_cast<void>(x);
  EXPECT_EQ(find("a"), turn_progress::past);
  first.close();
  (void)first.output(patience);
  EXPECT_EQ(code_from([&] {
              (void)clerk.run_text("hi", with_session_id(errands),
                                   with_turn_id("a"));
            }),
            errc::already_exists);
}

TEST_F(resumed_turns, a_client_that_died_before_its_input_is_asked_for_it) {
  const auto clerk = define_clerk("hello");
  const auto open = [&] {
    return clerk.stream_bidi(with_session_id(errands), with_turn_id("a"),
                             with_attach(true), with_keep());
  };
  open().detach();
  auto again = open();
  EXPECT_EQ(again.turn_found(), turn_progress::not_begun);
  again.send_text("hi");
  again.close();
  (void)again.output(patience);
  EXPECT_EQ(
    clerk.run_text("hi", with_session_id(errands), with_turn_id("a")).text,
    "hello");
  EXPECT_EQ(model.requests().size(), 1u);
}

TEST_F(resumed_turns, the_last_turn_of_a_session_is_known_to_a_live_run) {
  const auto clerk = define_clerk("hello");
  (void)clerk.run_text("hi", with_session_id(errands), with_turn_id("a"));
  auto live = clerk.stream_bidi(with_session_id(errands), with_keep());
  auto again = clerk.stream_bidi(with_session_id(errands), with_turn_id("a"),
                                 with_attach());
  EXPECT_EQ(again.turn_found(), turn_progress::over);
  model.add("bye");
  again.send_text("and");
  for (const auto& x : again.responses(patience))
    static_cast<void>(x);
  EXPECT_EQ(clerk
              .stream_bidi(with_session_id(errands), with_turn_id("a"),
                           with_attach(), as_listener{})
              .turn_found(),
            turn_progress::past);
}

TEST_F(resumed_turns, a_turn_of_several_inputs_is_the_last_one) {
  const auto pairs = define_stored(
    [](context, agent_session<notebook> sess, input<std::string> in,
       agent_responder<std::string> out) -> task<int> {
      while (const auto first = co_await in.next()) {
        const auto second = co_await in.next();
        co_await sess.update([&](notebook& x) { x.words += *first + *second; });
        co_await out.end_turn();
      }
      co_return 0;
    });
  auto talk = pairs.stream_bidi(my_session, with_turn_id("a"), with_keep());
  const auto find = [&](auto... options) {
    return pairs.stream_bidi(my_session, with_turn_id("a"), options...)
      .turn_found();
  };
  talk.send("one");
  talk.send("two");
  for (const auto& x : talk.responses(patience))
    static_cast<void>(x);
  EXPECT_EQ(find(with_attach(), as_listener{}), turn_progress::over);
  talk.close();
  (void)talk.output(patience);
  EXPECT_EQ(find(), turn_progress::over);
}

TEST_F(resumed_turns, a_turn_has_no_name_before_its_input) {
  const auto clerk = define_clerk("hello");
  (void)clerk.resume(errands, with_turn_id("a"));
  EXPECT_EQ(
    clerk.run_text("hi", with_session_id(errands), with_turn_id("a")).text,
    "hello");
}

TEST_F(resumed_turns, a_turn_behind_one_that_is_resumed_has_a_name) {
  const auto clerk = define_clerk(request());
  cut_off(clerk);
  model.add("all done");
  model.add("hello");
  auto talk = clerk.stream_bidi(with_session_id(errands), with_resume{},
                                with_turn_id("b"));
  EXPECT_EQ(talk.turn_found(), turn_progress::not_begun);
  talk.send_text("hi");
  talk.close();
  (void)talk.output(patience);
  EXPECT_EQ(
    clerk.run_text("hi", with_session_id(errands), with_turn_id("b")).text,
    "hello");
  EXPECT_EQ(model.requests().size(), 4u);
}

TEST_F(resumed_turns, the_name_of_a_turn_has_a_limit) {
  const auto clerk = define_clerk();
  EXPECT_EQ(code_from([&] {
              (void)clerk.stream_bidi(
                with_turn_id(std::string(max_turn_id_size + 1, 'x')));
            }),
            errc::invalid_argument);
  EXPECT_EQ(code_from([&] { (void)clerk.stream_bidi(with_turn_id("")); }),
            errc::invalid_argument);
}

// -- names of calls -----------------------------------------------------------

TEST_F(resumed_turns, a_call_that_runs_again_has_the_same_name) {
  const auto clerk = define_clerk(request("ask"), "fine");
  const auto asked = clerk.run_text("go", with_session_id(errands));
  ASSERT_EQ(asked.questions.size(), 1u);
  auto talk = clerk.stream_bidi(with_session_id(errands));
  talk.send(ai::conversation_input{{ai::approval(asked.questions[0])}});
  talk.close();
  (void)talk.output(patience);
  ASSERT_EQ(calls.size(), 2u);
  EXPECT_EQ(calls[0], calls[1]);
  EXPECT_EQ(calls[0].size(), 32u);
}

TEST_F(resumed_turns, other_calls_have_other_names) {
  const auto clerk = define_clerk(
    model_says(request("act", "a"), request("act", "b")), request(), "fine");
  (void)clerk.run_text("go", with_session_id(errands));
  ASSERT_EQ(calls.size(), 3u);
  EXPECT_NE(calls[0], calls[1]);
  EXPECT_NE(calls[0], calls[2]);
  EXPECT_NE(calls[1], calls[2]);
}

TEST_F(resumed_turns, a_call_outside_a_session_has_no_name) {
  define_clerk();
  auto talk = rt->stream_bidi("/tool/act", with_init(json::object()));
  (void)talk.output(patience);
  EXPECT_EQ(calls, strings{""});
}

} // namespace tertulia::test::resumed_turn_tests
