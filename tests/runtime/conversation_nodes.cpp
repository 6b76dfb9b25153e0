// SPDX-License-Identifier: BSD-3-Clause

// Conversations between two processes, joined by CAF's network module.

#include <tertulia/define_agent.hpp>
#include <tertulia/remote_runtime.hpp>

#include "support/child_process.hpp"
#include "support/conversations.hpp"
#include "support/network_config.hpp"
#include "support/node_conversations.hpp"

using namespace std::chrono_literals;

namespace tertulia::test::conversation_nodes_tests {

namespace {

using strings = std::vector<std::string>;

/// Fixture in which this process is a client of another one.
struct conversation_nodes : ::testing::Test {
  conversation_nodes()
    : server("conversation_server", {}), system(cfg),
      there(system, "127.0.0.1",
            static_cast<std::uint16_t>(std::stoi(server.read_line()))) {}

  diary_agent agent() {
    return there
      .action<diary, std::string, agent_output<diary, int>, std::string>(
        "/agent/diary");
  }

  template <class Response>
  auto conversation_of(const std::string& key) {
    return there.action<ai::conversation_handle<phase, diary, Response>>(key);
  }

  child_process server;
  network_config cfg;
  caf::actor_system system;
  remote_runtime there;
};

/// Fixture in which this process is the server.
struct conversation_host : ::testing::Test {
  conversation_host() : system(cfg), rt(system) {
    define_node_conversations(rt);
  }

  network_config cfg;
  caf::actor_system system;
  runtime rt;
};

} // namespace

TEST_F(conversation_nodes, an_agent_keeps_its_state_for_another_process) {
  session_id id;
  {
    diary first;
    first.words.emplace_back("zero");
    first.mood = 0.5;
    auto talk = agent().stream_bidi(with_init(first));
    for (const auto* word : {"one", "two"}) {
      talk.send(word);
      EXPECT_EQ(read_turn(talk), strings{"noted: " + std::string{word}});
    }
    const auto output = finish(talk);
    EXPECT_EQ(output.output, 2);
    EXPECT_EQ(output.state.words, (strings{"zero", "one", "two"}));
    EXPECT_EQ(output.state.mood, 0.5);
    EXPECT_EQ(output.snapshot_ids.size(), 2u);
    id = output.session_id;
  }
  auto talk = agent().stream_bidi(with_session_id(id));
  EXPECT_EQ(code_from([&] { (void)agent().stream_bidi(with_session_id(id)); }),
            errc::failed_precondition);
  talk.send("three");
  read_turn(talk);
  EXPECT_EQ(finish(talk).state.words, (strings{"zero", "one", "two", "three"}));
}

TEST_F(conversation_nodes, snapshot_notices_of_a_chat_agent_arrive) {
  const auto chat = conversation_of<ai::agent_response<diary>>("/agent/chat");
  for (const std::uint32_t window : {0u, 1u, 64u}) {
    SCOPED_TRACE(window);
    auto talk = chat.stream_bidi(with_chunk_window(window));
    std::vector<snapshot_id> seen;
    for (const auto* word : {"cats", "dogs", "birds"}) {
      const auto turn = hear(talk, word);
      ASSERT_EQ(turn.size(), 4u);
      EXPECT_EQ(turn[0].status, (phase{"answering", 1}));
      EXPECT_EQ(turn[1].chunk->text(), "about " + std::string{word});
      EXPECT_FALSE(turn[2].snapshot_created.empty());
      EXPECT_TRUE(turn[3].end_turn);
      seen.push_back(turn[2].snapshot_created);
    }
    const auto output = finish(talk);
    EXPECT_EQ(output.snapshot_ids, seen);
    EXPECT_EQ(output.state.messages.size(), 6u);
    EXPECT_EQ(output.state.custom.words, (strings{"cats", "dogs", "birds"}));
    auto branch = chat.stream_bidi(with_snapshot_id(seen[0]),
                                   with_session_id(output.session_id));
    EXPECT_EQ(finish(branch).state.custom.words, strings{"cats"});
  }
}

TEST_F(conversation_nodes, a_session_flow_tags_what_it_stores) {
  const auto turns
    = conversation_of<ai::session_flow_response<diary>>("/session-flow/turns");
  auto talk = turns.stream_bidi();
  const auto session = talk.session();
  EXPECT_FALSE(session.empty());
  const auto seen = snapshot_after(talk, "cats");
  EXPECT_EQ(talk.last_snapshot(), seen);
  const auto output = finish(talk);
  EXPECT_EQ(output.snapshot_id, seen);
  EXPECT_EQ(output.session_id, session);
  ASSERT_EQ(output.state.messages.size(), 2u);
  EXPECT_EQ(output.state.messages.back().metadata.at("snapshotId"), seen.str());
}

TEST_F(conversation_nodes, json_is_enough_to_use_them) {
  const auto diary_json = there.action<json, json, json, json>("/agent/diary");
  auto talk = diary_json.stream_bidi(with_session_id("j"));
  talk.send("one");
  EXPECT_EQ(read_turn(talk), std::vector<json>{"noted: one"});
  const auto output = finish(talk);
  EXPECT_EQ(output.at("sessionId"), "j");
  EXPECT_EQ(output.at("state").at("words"), json::array({"one"}));
  const auto find
    = there.action<json, json, json, json>("/snapshot-store/diary/getSnapshot");
  auto question = find.stream_bidi();
  question.send(json{{"snapshotId", output.at("snapshotIds").at(0)}});
  EXPECT_EQ(finish(question).at("state").at("words"), json::array({"one"}));
  const auto chat_json = there.action<json, json, json, json>("/agent/chat");
  auto other = chat_json.stream_bidi();
  other.send(
    json::parse(R"({"messages":[{"role":"user","content":[{"text":"hi"}]}]})"));
  const auto chunks = read_turn(other);
  ASSERT_EQ(chunks.size(), 3u);
  EXPECT_TRUE(chunks[2].contains("snapshotCreated"));
}

TEST_F(conversation_nodes, a_state_that_json_cannot_say_is_an_error) {
  auto kept = agent().stream_bidi(with_session_id("n"));
  kept.send("mad");
  EXPECT_EQ(code_from([&] { kept.output(patience); }), errc::invalid_argument);
  // A conversation without a store fails when it has to report its state.
  const auto forgetful
    = conversation_of<ai::agent_response<diary>>("/agent/forgetful");
  auto talk = forgetful.stream_bidi();
  hear(talk, "mad");
  talk.close();
  EXPECT_EQ(code_from([&] { talk.output(patience); }), errc::invalid_argument);
  diary mad;
  mad.mood = not_a_number;
  EXPECT_EQ(code_from([&] { (void)agent().stream_bidi(with_init(mad)); }),
            errc::invalid_argument);
  auto again = agent().stream_bidi(with_session_id("n"));
  EXPECT_TRUE(finish(again).state.words.empty());
}

TEST_F(conversation_nodes, a_conversation_that_fails_gives_its_state_back) {
  const auto forgetful
    = conversation_of<ai::agent_response<diary>>("/agent/forgetful");
  auto talk = forgetful.stream_bidi();
  hear(talk, "hi");
  talk.cancel();
  const auto error = error_of([&] { return talk.output(patience); });
  EXPECT_EQ(error.code(), errc::cancelled);
  const auto last = talk.last_state();
  ASSERT_TRUE(last);
  EXPECT_EQ(last->custom.words, std::vector<std::string>{"hi"});
  EXPECT_EQ(last->messages.size(), 2u);
  EXPECT_EQ(parse_json<json>(error.details()).at("state"), to_json(*last));
}

TEST_F(conversation_nodes, a_flow_of_another_process_works_on_the_session) {
  runtime here{system};
  const auto helper
    = there.action<nothing, std::string, int, int>("/bidi-flow/writeForCaller");
  const auto store = spawn_memory_store(system);
  const auto own = define_agent(
    here, "own",
    [helper](context ctx, agent_session<diary> mine, input<std::string> in,
             agent_responder<std::string> out) -> task<int> {
      auto talk = co_await helper.open(ctx);
      int count = 0;
      while (auto word = co_await in.next()) {
        co_await mine.update([](diary& x) { x.words.emplace_back("here"); });
        co_await talk.send(*word);
        while (auto x = co_await talk.next())
          count = *x;
        co_await out.end_turn();
      }
      talk.close();
      co_await talk.output();
      co_return count;
    },
    with_snapshot_store(store), each_time);
  {
    auto talk = own.stream_bidi(with_session_id("s"));
    for (const auto* word : {"there", "again"}) {
      talk.send(word);
      read_turn(talk);
    }
    const auto output = finish(talk);
    EXPECT_EQ(output.output, 4);
    EXPECT_EQ(output.state.words, (strings{"here", "there", "here", "again"}));
    EXPECT_EQ(output.snapshot_ids.size(), 2u);
  }
  auto talk = own.stream_bidi(with_session_id("s"));
  talk.send("mad");
  EXPECT_EQ(code_from([&] { talk.output(patience); }), errc::invalid_argument);
}

TEST_F(conversation_nodes,
       a_flow_of_another_process_cannot_read_what_is_no_json) {
  runtime here{system};
  const auto helper = there.action<nothing, nothing, double, nothing>(
    "/bidi-flow/readForCaller");
  const auto own = ai::define_chat_agent(
    here, "own",
    [helper](context ctx, ai::chat_session<diary> mine,
             input<ai::conversation_input> in,
             ai::chat_responder<phase> out) -> task<> {
      for (double mood = 2; co_await in.next(); mood = not_a_number) {
        co_await mine.patch_custom([&](diary& x) { x.mood = mood; });
        auto talk = co_await helper.open(ctx);
        talk.close();
        const auto read = co_await talk.output();
        co_await out.send_status("read", read);
        co_await out.end_turn();
      }
    });
  auto talk = own.stream_bidi();
  const auto turn = hear(talk, "hi");
  ASSERT_EQ(turn.size(), 2u);
  EXPECT_EQ(turn[0].status, (phase{"read", 2}));
  talk.send_text("hi");
  EXPECT_EQ(code_from([&] { talk.output(patience); }), errc::invalid_argument);
}

TEST_F(conversation_nodes, a_flow_of_another_process_triggers_snapshots) {
  runtime here{system};
  const auto helper = there.action<nothing, nothing, std::string, nothing>(
    "/bidi-flow/snapshotForCaller");
  const auto store = spawn_memory_store(system);
  const auto own = ai::define_chat_agent(
    here, "own",
    [helper](context ctx, ai::chat_session<diary> mine,
             input<ai::conversation_input> in,
             ai::chat_responder<phase> out) -> task<> {
      while (auto input = co_await in.next()) {
        co_await mine.add_messages(input->messages);
        auto talk = co_await helper.open(ctx);
        talk.close();
        const auto id = co_await talk.output();
        co_await out.send_text(id);
        co_await out.end_turn();
      }
    },
    with_snapshot_store(store), each_time);
  auto talk = own.stream_bidi();
  const auto turn = hear(talk, "hi");
  ASSERT_EQ(turn.size(), 3u);
  EXPECT_FALSE(turn[0].snapshot_created.empty());
  EXPECT_EQ(turn[0].snapshot_created.str(), turn[1].chunk->text());
  EXPECT_TRUE(turn[2].end_turn);
}

TEST_F(conversation_nodes, a_killed_server_is_unavailable) {
  auto talk = agent().stream_bidi(with_session_id("s"));
  talk.send("one");
  read_turn(talk);
  server.kill();
  EXPECT_EQ(code_from([&] { talk.output(patience); }), errc::unavailable);
}

TEST_F(conversation_host, a_client_killed_with_its_process_frees_the_session) {
  const auto port = rt.publish();
  const auto before = system.registry().running();
  child_process client{"conversation_client", {std::to_string(port)}};
  ASSERT_EQ(client.read_line(), "noted: mine");
  const diary_agent agent = [&] {
    caf::actor_system& here = system;
    return remote_runtime{here, "127.0.0.1", port}
      .action<diary, std::string, agent_output<diary, int>, std::string>(
        "/agent/diary");
  }();
  EXPECT_EQ(code_from([&] { (void)agent.stream_bidi(with_session_id("s")); }),
            errc::failed_precondition);
  client.kill();
  ASSERT_TRUE(
    eventually([&] { return system.registry().running() == before; }));
  auto talk = agent.stream_bidi(with_session_id("s"));
  talk.send("yours");
  read_turn(talk);
  EXPECT_EQ(finish(talk).state.words, (strings{"mine", "yours"}));
}

} // namespace tertulia::test::conversation_nodes_tests
