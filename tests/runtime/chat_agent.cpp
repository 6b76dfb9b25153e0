// SPDX-License-Identifier: BSD-3-Clause

#include <string>
#include <vector>

#include "support/conversations.hpp"

using namespace std::literals;

namespace tertulia::test::chat_agent_tests {

namespace {

struct chat_agent : conversations {
  /// Defines an agent without a store, with this body.
  template <class Body>
  auto define_loose(Body body) {
    return ai::define_chat_agent(*rt, "loose", std::move(body));
  }

  /// Runs a body without inputs, and returns the state of the session
  /// afterwards.
  template <class Body>
  notebook_state state_after(Body body) {
    auto talk = define_loose(std::move(body)).stream_bidi();
    return finish(talk).state;
  }

  /// Returns the chunks that a body sends before it returns.
  template <class Body>
  std::vector<phase_chunk> chunks_of(Body body) {
    auto talk = define_loose(std::move(body)).stream_bidi();
    talk.close();
    return hear(talk);
  }
};

} // namespace

// -- the session --------------------------------------------------------------

TEST_F(chat_agent, messages_can_be_added_read_and_replaced) {
  const auto state = state_after([](context, chat_session sess, chat_input,
                                    chat_responder) -> task<> {
    co_await sess.add_messages(ai::user_text("one"), ai::model_text("two"));
    std::vector<ai::message> more(2, ai::user_text("three"));
    co_await sess.add_messages(more);
    const auto before = co_await sess.messages();
    EXPECT_EQ(told_of(before),
              (texts{"user: one", "model: two", "user: three", "user: three"}));
    co_await sess.set_messages(before.prefix(1));
    co_await sess.add_messages(ai::model_text("four"));
    EXPECT_EQ(before.size(), 4u) << "it was a copy";
  });
  EXPECT_EQ(told_of(state.messages), (texts{"user: one", "model: four"}));
}

TEST_F(chat_agent, the_custom_value_can_be_set_patched_and_read) {
  const auto state = state_after(
    [](context, chat_session sess, chat_input, chat_responder) -> task<> {
      const auto first = co_await sess.custom();
      EXPECT_EQ(first, notebook{});
      co_await sess.set_custom(1, "one");
      co_await sess.patch_custom([](notebook& x) { ++x.count; });
      co_await sess.patch_custom([](notebook x) {
        x.words += "!";
        return x;
      });
      auto mine = co_await sess.custom();
      EXPECT_EQ(mine, (notebook{2, "one!"}));
      mine.words = "mine";
    });
  EXPECT_EQ(state.custom, (notebook{2, "one!"}));
}

TEST_F(chat_agent, an_artifact_replaces_the_one_of_its_name) {
  const auto state = state_after(
    [](context, chat_session sess, chat_input, chat_responder) -> task<> {
      co_await sess.add_artifact(text_artifact("a", "old"));
      co_await sess.add_artifact(text_artifact("b", "other"));
      co_await sess.add_artifact(text_artifact("", "nameless"));
      co_await sess.add_artifact(text_artifact("", "nameless"));
      co_await sess.add_artifact(text_artifact("a", "new"));
    });
  EXPECT_EQ(state.artifacts,
            (std::vector{text_artifact("a", "new"), text_artifact("b", "other"),
                         text_artifact("", "nameless"),
                         text_artifact("", "nameless")}));
}

TEST_F(chat_agent, all_artifacts_can_be_replaced_and_read) {
  const auto state = state_after(
    [](context, chat_session sess, chat_input, chat_responder) -> task<> {
      co_await sess.add_artifact(text_artifact("a", "old"));
      std::vector<ai::artifact> all(1, text_artifact("b", "new"));
      co_await sess.set_artifacts(all);
      const auto now = co_await sess.artifacts();
      EXPECT_EQ(now, all);
    });
  EXPECT_EQ(state.artifacts, std::vector{text_artifact("b", "new")});
}

TEST_F(chat_agent, the_session_knows_itself) {
  const auto knowing = define_stored_chat(
    [](context, chat_session sess, chat_input in,
       chat_responder out) -> task<> {
      std::vector<snapshot_id> made;
      for (std::uint64_t turn = 0; co_await in.next(); ++turn) {
        EXPECT_EQ(sess.id().str(), "mine");
        const auto index = co_await sess.turn_index();
        EXPECT_EQ(index, turn);
        const auto last = co_await sess.last_snapshot();
        EXPECT_EQ(last, made.empty() ? snapshot_id{} : made.back());
        co_await sess.patch_custom([](notebook& x) { ++x.count; });
        const auto whole = co_await sess.state();
        EXPECT_EQ(whole.custom.count, static_cast<std::int64_t>(turn) + 1);
        const auto id = co_await out.end_turn();
        made.push_back(id);
        const auto so_far = co_await sess.new_snapshot_ids();
        EXPECT_EQ(so_far, made);
      }
    },
    each_time);
  const auto result = say(knowing.stream_bidi(my_session), {"a", "b", "c"});
  EXPECT_EQ(result.snapshot_ids.size(), 3u);
}

TEST_F(chat_agent, the_init_can_be_seen_by_the_body) {
  const auto looking = define_stored_chat(
    [](context, chat_session sess, chat_input, chat_responder) -> task<> {
      const auto init = sess.init();
      co_await sess.set_custom(init.state ? init.state->custom.count + 1 : -1,
                               init.snapshot_id.str());
    },
    each_time, with_client_states{});
  const auto without = say(looking.stream_bidi(), {});
  EXPECT_EQ(without.state.custom, (notebook{-1, ""}));
  const auto with = say(
    looking.stream_bidi(ai::with_state(notebook_state{{}, notebook{6, "x"}})),
    {});
  EXPECT_EQ(with.state.custom, (notebook{7, ""}));
  const auto id = without.snapshot_ids.at(0).str();
  const auto json_init = rt->run_action("/agent/chat", {}, {},
                                        with_init(json{{"snapshotId", id}}));
  EXPECT_EQ(json_init.at("state").at("custom").at("words"), id);
  const auto chosen = say(
    looking.stream_bidi(with_snapshot_id(without.snapshot_ids.at(0))), {});
  EXPECT_EQ(chosen.state.custom, (notebook{-1, id}));
}

TEST_F(chat_agent, tools_find_the_session_by_its_type) {
  const auto tool = rt->define_bidi_flow(
    "tool", [](context ctx, input<int> in, output<int>) -> task<int> {
      EXPECT_FALSE(ctx.session<ai::chat_session<phase>>());
      EXPECT_FALSE(ctx.session<agent_session<notebook>>());
      const auto sess = ctx.session<chat_session>();
      if (!sess)
        co_return -1;
      const auto by = co_await in.next();
      co_await sess->patch_custom(
        [&](notebook& x) { x.count += by.value_or(0); });
      co_await sess->add_messages(ai::user_text("tool"));
      co_return 0;
    });
  const auto state = state_after([tool](context ctx, chat_session sess,
                                        chat_input, chat_responder) -> task<> {
    co_await sess.add_messages(ai::user_text("body"));
    auto talk = co_await tool.open(ctx);
    co_await talk.send(5);
    const auto found = co_await talk.output();
    EXPECT_EQ(found, 0);
  });
  EXPECT_EQ(state.custom.count, 5);
  EXPECT_EQ(told_of(state.messages), (texts{"user: body", "user: tool"}));
}

// -- the responder ------------------------------------------------------------

TEST_F(chat_agent, the_stream_carries_text_chunks_status_and_artifacts) {
  const auto chunks = chunks_of(
    [](context, chat_session, chat_input, chat_responder out) -> task<> {
      co_await out.send_text("hi");
      ai::model_response_chunk piece{
        tertulia::chunks<ai::part>(1, ai::part::reasoning("hm")),
        ai::role::model, 2};
      co_await out.send_chunk(piece);
      co_await out.send_status("thinking", 0.5);
      co_await out.send_artifact("a.txt", ai::part::text("x"));
      co_await out.send_artifact(text_artifact("b.txt", "y"));
      co_await out.end_turn();
    });
  EXPECT_EQ(
    told_of(chunks),
    (texts{
      R"({"chunk":{"content":[{"text":"hi"}],"role":"model","index":0}})",
      R"({"chunk":{"content":[{"reasoning":"hm"}],"role":"model","index":2}})",
      R"({"status":{"name":"thinking","done":0.5}})",
      R"({"artifact":{"name":"a.txt","parts":[{"text":"x"}]}})",
      R"({"artifact":{"name":"b.txt","parts":[{"text":"y"}]}})",
      R"({"endTurn":true})"}));
}

TEST_F(chat_agent, a_whole_chunk_carries_what_it_is_given) {
  const auto chunks = chunks_of(
    [](context, chat_session sess, chat_input, chat_responder out) -> task<> {
      phase_chunk whole{ai::model_response_chunk{}};
      whole.status.emplace();
      whole.artifact = text_artifact("a", "x");
      whole.snapshot_created = snapshot_id{"forged"};
      whole.end_turn = true;
      co_await out.send(whole);
      const auto kept = co_await sess.artifacts();
      EXPECT_EQ(kept.size(), 1u) << "what is streamed is in the snapshot";
      co_await out.end_turn();
    });
  ASSERT_EQ(chunks.size(), 2u);
  EXPECT_TRUE(chunks[0].chunk && chunks[0].status && chunks[0].artifact);
  EXPECT_FALSE(chunks[0].end_turn) << "only the end of a turn says that";
  EXPECT_FALSE(chunks[0].snapshot_created) << "only a snapshot says that";
}

TEST_F(chat_agent, a_streamed_artifact_is_in_the_snapshot_of_its_turn) {
  const auto painting = define_stored_chat(
    [](context, chat_session, chat_input in, chat_responder out) -> task<> {
      while (const auto input = co_await in.next()) {
        co_await out.send_artifact("picture", ai::part::text("of"),
                                   input->messages.at(0).content.at(0));
        co_await out.end_turn();
      }
    },
    each_time);
  auto talk = painting.stream_bidi();
  for (const auto* subject : {"a cat", "a dog"}) {
    const auto made = snapshots_in(hear(talk, subject));
    ASSERT_EQ(made.size(), 1u);
    const auto artifacts = snapshot_of(made[0]).at("state").at("artifacts");
    ASSERT_EQ(artifacts.size(), 1u) << "one of that name";
    EXPECT_EQ(artifacts[0].at("parts")[1].at("text"), subject);
  }
}

TEST_F(chat_agent, a_snapshot_is_told_of_before_the_end_of_its_turn) {
  auto talk = define_chat().stream_bidi();
  for (const auto* text : {"a", "b"}) {
    talk.send_text(text);
    texts received;
    for (const auto& x : talk.responses(patience)) {
      received.push_back(x.chunk ? "chunk" : x.end_turn ? "end" : "snapshot");
      if (x.snapshot_created) {
        const auto found = snapshot_of(x.snapshot_created);
        EXPECT_EQ(found.at("state").at("messages").back().at("content"),
                  to_json(ai::model_text("re: "s + text).content))
          << "it is stored already";
      }
    }
    EXPECT_EQ(received, (texts{"chunk", "snapshot", "end"}));
  }
}

// -- the client's end ---------------------------------------------------------

TEST_F(chat_agent, receive_ends_with_the_end_of_the_turn) {
  auto talk = define_loose(repeat).stream_bidi();
  for (int turn = 0; turn < 50; ++turn) {
    const auto chunks = hear(talk, "x");
    ASSERT_EQ(chunks.size(), 2u);
    EXPECT_EQ(chunks[0].chunk.value().text(), "re: x");
    EXPECT_TRUE(chunks[1].end_turn);
    EXPECT_FALSE(talk.finished());
  }
  talk.close();
  EXPECT_EQ(hear(talk).size(), 0u) << "the end of the action is none of a turn";
  EXPECT_TRUE(talk.finished());
}

TEST_F(chat_agent, a_loop_may_be_left_at_the_end_of_the_turn) {
  auto talk = define_loose(repeat).stream_bidi();
  for (const auto* text : {"a", "b", "c"}) {
    talk.send_text(text);
    texts received;
    for (const auto& x : talk.responses(patience)) {
      if (x.end_turn)
        break;
      received.push_back(x.chunk.value().text());
    }
    EXPECT_EQ(received, texts{"re: "s + text});
  }
}

TEST_F(chat_agent, leaving_a_loop_early_loses_nothing) {
  const auto counting = define_loose(
    [](context, chat_session, chat_input in, chat_responder out) -> task<> {
      while (co_await in.next()) {
        for (int i = 0; i < 5; ++i)
          co_await out.send_text(std::to_string(i));
        co_await out.end_turn();
      }
    });
  auto talk = counting.stream_bidi();
  for (int turn = 0; turn < 3; ++turn) {
    talk.send_text("count");
    texts received;
    for (int pieces = 1; pieces <= 2; ++pieces)
      for (int left = 2; const auto& x : talk.responses(patience)) {
        received.push_back(x.chunk.value().text());
        if (--left == 0)
          break;
      }
    for (const auto& x : hear(talk))
      received.push_back(x.end_turn ? "end" : x.chunk.value().text());
    EXPECT_EQ(received, (texts{"0", "1", "2", "3", "4", "end"}));
  }
}

TEST_F(chat_agent, the_output_comes_though_nothing_was_read) {
  const auto talkative = define_loose(
    [](context, chat_session, chat_input in, chat_responder out) -> task<> {
      while (co_await in.next()) {
        for (int i = 0; i < 1'000; ++i)
          co_await out.send_text("bla");
        co_await out.end_turn();
      }
    });
  for (const auto window : {0u, 1u, 64u}) {
    auto talk = talkative.stream_bidi(with_chunk_window(window));
    talk.send_text("talk");
    EXPECT_NO_THROW(finish(talk));
  }
  EXPECT_TRUE(nothing_is_left());
}

TEST_F(chat_agent, inputs_of_three_kinds_are_the_same_to_the_body) {
  auto talk = define_loose(repeat).stream_bidi();
  const std::vector<ai::message> two{ai::user_text("a"), ai::user_text("b")};
  const auto kept = two;
  talk.send_messages(two);
  hear(talk);
  const ai::conversation_input input{two};
  talk.send(input);
  hear(talk);
  hear(talk, "c");
  talk.send(ai::conversation_input{});
  hear(talk);
  const auto result = finish(talk);
  EXPECT_EQ(told_of(result.state.messages),
            (texts{"user: a", "user: b", "model: re: b", "user: a", "user: b",
                   "model: re: b", "user: c", "model: re: c",
                   "model: re: re: c"}));
  EXPECT_EQ(two, kept);
  EXPECT_EQ(input, ai::conversation_input{kept});
}

} // namespace tertulia::test::chat_agent_tests
