// SPDX-License-Identifier: BSD-3-Clause

// The command line on a running program: its sessions, its runs, and a chat
// that comes back to its answer. The tool runs as a process, as users run it.

#include <tertulia/ai/session_flow.hpp>
#include <tertulia/memory_store.hpp>
#include <tertulia/runtime.hpp>

#include <chrono>
#include <optional>
#include <string>

#include "support/network_config.hpp"
#include "support/refusal.hpp"
#include "support/threaded.hpp"
#include "support/tool_process.hpp"
#include "support/valve.hpp"

using namespace std::literals;

namespace tertulia::test::tool_connect_tests {

namespace {

using desk_type = ai::session_flow<nothing, nothing>;

struct tool_connect : ::testing::Test {
  tool_connect() : rt(system, publishing_stores()) {
    desk.emplace(define(rt, "desk"));
    port = rt.publish();
  }

  /// Defines an agent that repeats what it hears, "slow" in two parts: the
  /// second one follows when the gate is open.
  desk_type define(runtime& at, const std::string& name) {
    return ai::define_session_flow(
      at, name,
      [this](context ctx, ai::flow_session<nothing> sess,
             ai::flow_responder<nothing> out) -> task<> {
        co_await sess.run_turns(
          ctx, [&](context at, const ai::conversation_input& input) -> task<> {
            const auto text = input.messages.back().text();
            co_await out.send_text("you said ");
            const auto wait = [this] { gate.wait(); };
            if (text == "slow")
              co_await at.run_blocking(wait);
            co_await out.send_text(text);
            co_await sess.add_messages(ai::model_text("you said " + text));
          });
      },
      with_snapshot_store(spawn_memory_store(system)));
  }

  static runtime_options publishing_stores() {
    runtime_options result;
    result.publish_stores = true;
    result.run_heartbeat = std::chrono::hours{1};
    return result;
  }

  [[nodiscard]] std::string address() const {
    return "127.0.0.1:" + std::to_string(port);
  }

  [[nodiscard]] strings command(strings arguments) const {
    arguments.insert(arguments.begin(),
                     {TERTULIA_TOOL, "--connect", address(), "--plain"});
    return arguments;
  }

  [[nodiscard]] tool_result run(strings arguments,
                                const std::string& input = {}) const {
    return run_process(command(std::move(arguments)), input);
  }

  /// Runs the tool, which must succeed.
  [[nodiscard]] std::string output(strings arguments,
                                   const std::string& input = {}) const {
    const auto result = run(std::move(arguments), input);
    EXPECT_EQ(result.code, 0) << result.err;
    return result.out;
  }

  network_config cfg;
  caf::actor_system system{cfg};
  valve gate;
  runtime rt;
  std::optional<desk_type> desk;
  std::uint16_t port = 0;
};

} // namespace

TEST_F(tool_connect, looks_into_the_store_of_a_running_program) {
  (void)desk->run_text("hello", with_session_id("s"));
  EXPECT_TRUE(has(output({"sessions", "list"}), "/session-flow/desk", "s"));
  EXPECT_TRUE(has(output({"sessions", "show", "s"}), "hello"));
  (void)output({"snapshots", "label", "s", "--add", "good"});
  EXPECT_TRUE(has(output({"snapshots", "list", "s"}), "good"));
  EXPECT_TRUE(has(output({"verify"}), "nothing is damaged"));
}

TEST_F(tool_connect, lists_aborts_and_attaches_to_runs) {
  auto talk = desk->stream_bidi(with_session_id("s"), with_keep());
  const auto run_name = to_string(talk.position().run);
  EXPECT_TRUE(has(output({"runs", "list"}), run_name, "running"));
  talk.send_text("slow");
  tool_process listener{tool_process::pipes{},
                        command({"runs", "attach", run_name})};
  ASSERT_TRUE(listener.read_until("you said"));
  gate.open();
  talk.close();
  const auto heard = listener.wait();
  EXPECT_EQ(heard.code, 0) << heard.err;
  EXPECT_TRUE(has(heard.out, "you said", "slow", R"("sessionId":"s")"));
  (void)talk.output(patience);
  EXPECT_TRUE(has(output({"runs", "show", run_name}), "completed"));
  auto other = desk->stream_bidi(with_session_id("t"), with_keep());
  EXPECT_TRUE(
    has(output({"runs", "abort", to_string(other.position().run)}), "aborted"));
  EXPECT_EQ(code_from([&] { other.output(patience); }), errc::aborted)
    << "before its next heartbeat";
}

TEST_F(tool_connect, talks_to_the_agent_of_a_running_program) {
  EXPECT_EQ(output({"chat", "--quiet", "--new"}, "hello\nagain\n"),
            "you said hello\nyou said again\n");
  EXPECT_EQ(output({"chat", "--quiet"}, "third\n"), "you said third\n");
  EXPECT_TRUE(has(output({"chat", "--quiet"}, "/session\n"), address(),
                  "/session-flow/desk"));
  EXPECT_TRUE(has(output({"sessions", "list", "--json"}), R"("messages":6)"));
}

TEST_F(tool_connect, attaches_a_chat_to_the_answer_that_is_under_way) {
  (void)desk->run_text("hello", with_session_id("s"));
  {
    tool_process first{tool_process::pipes{},
                       command({"chat", "--quiet", "--session", "s"}),
                       "slow\n"};
    ASSERT_TRUE(first.read_until("you said "));
    first.kill();
  }
  tool_process second{tool_process::pipes{},
                      command({"chat", "--quiet", "--session", "s"}), "more\n"};
  ASSERT_TRUE(second.read_until("you said "));
  gate.open();
  const auto result = second.wait();
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.out, "you said slow\nyou said more\n");
  const auto state = desk->resume(session_id{"s"}).output.state;
  EXPECT_EQ(state.messages.size(), 6u) << "each text was said once";
}

TEST_F(tool_connect, does_not_take_another_answer_for_its_own) {
  (void)desk->run_text("hello", with_session_id("s"));
  auto other = desk->stream_bidi(with_session_id("s"), with_keep());
  tool_process chat{tool_process::terminal{80},
                    command({"chat", "--session", "s"})};
  ASSERT_TRUE(chat.read_until("Talk to "));
  other.send_text("slow");
  for (const auto& x : other.responses(patience))
    if (x.chunk) // it is under way
      break;
  chat.type("mine\n");
  ASSERT_TRUE(chat.read_until("An answer is under way."));
  gate.open();
  // The terminal may show the line that was typed in the middle of the answer.
  EXPECT_TRUE(chat.read_until("slow"));
  EXPECT_TRUE(chat.read_until("you said mine"));
}

TEST_F(tool_connect, watches_a_conversation) {
  auto talk = desk->stream_bidi(with_session_id("s"), with_keep());
  talk.send_text("slow");
  tool_process watcher{
    tool_process::pipes{},
    command({"chat", "--watch", "--quiet", "--session", "s"})};
  ASSERT_TRUE(watcher.read_until("you said "));
  gate.open();
  for (const auto& x : talk.responses(patience))
    static_cast<void>(x);
  talk.send_text("bye");
  talk.close();
  const auto result = watcher.wait();
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.out, "you said slow\nyou said bye\n");
  (void)talk.output(patience);
  EXPECT_TRUE(run({"chat", "--watch", "--session", "s"})
                .failed(3, "nothing is under way"));
}

TEST_F(tool_connect, needs_a_runtime_that_publishes_its_stores) {
  runtime closed{system};
  (void)define(closed, "desk");
  const auto result
    = run_process({TERTULIA_TOOL, "--connect",
                   "127.0.0.1:" + std::to_string(closed.publish()), "--plain",
                   "sessions", "list"});
  EXPECT_TRUE(
    result.failed(1, "does not publish its stores", "publish_stores"));
}

TEST_F(tool_connect, says_what_is_wrong) {
  const auto bare = [](strings arguments) {
    arguments.insert(arguments.begin(), TERTULIA_TOOL);
    return run_process(std::move(arguments));
  };
  EXPECT_TRUE(bare({"--connect", address(), "sessions", "list"})
                .failed(2, "needs a certificate", "--plain"));
  for (const auto* bad : {"nowhere", "host:", ":1", "host:0", "host:70000",
                          "host:12x", "a:b:1", "[]:1"})
    EXPECT_TRUE(bare({"--connect", bad, "--plain", "sessions", "list"})
                  .failed(2, "is not an address"))
      << bad;
  EXPECT_TRUE(bare({"--connect", address(), "--plain", "--certificate", "ca/x",
                    "sessions", "list"})
                .failed(2, "exclude each other"));
  EXPECT_TRUE(run({"--store", "x.db", "sessions", "list"})
                .failed(2, "exclude each other"));
  EXPECT_TRUE(bare({"--connect", "127.0.0.1:1", "--plain", "--wait", "1s",
                    "sessions", "list"})
                .failed(1, "127.0.0.1:1", "Check that the program"));
  EXPECT_TRUE(run({"chat", "--model", "eliza"}).failed(2, "--model"));
  EXPECT_TRUE(run({"agents", "list"}).failed(2, "this program"));
  EXPECT_TRUE(bare({"chat", "--watch"}).failed(2, "--watch", "--connect"));
  EXPECT_TRUE(bare({"runs", "attach", "x"}).failed(2, "--connect"));
}

TEST_F(tool_connect, needs_the_key_of_one_of_several_agents) {
  const auto other = define(rt, "other");
  (void)other.run_text("hello", with_session_id("o"));
  EXPECT_TRUE(
    run({"sessions", "list"}).failed(1, "several stores", "HOST:PORT/KEY"));
  const auto result = run_process({TERTULIA_TOOL, "--connect",
                                   address() + "/session-flow/other", "--plain",
                                   "sessions", "list"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_TRUE(has(result.out, "/session-flow/other"));
}

} // namespace tertulia::test::tool_connect_tests
