// SPDX-License-Identifier: BSD-3-Clause

// Runtimes on different nodes that share a store on a third one.

#include <tertulia/define_agent.hpp>
#include <tertulia/remote_actor.hpp>
#include <tertulia/sqlite_store.hpp>

#include <caf/default_attachable.hpp>
#include <caf/scoped_actor.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "support/network_config.hpp"
#include "support/scratch.hpp"
#include "support/states.hpp"
#include "support/threaded.hpp"

namespace tertulia::test::shared_store_tests {

namespace {

using memo_agent
  = bidi_flow<memo, std::string, agent_output<memo, int>, std::string>;
using memo_connection
  = connection<std::string, agent_output<memo, int>, std::string>;

/// @param session receives the session of the invocation that was opened last.
memo_agent define_memo(runtime& rt, const snapshot_store& store,
                       caf::actor_addr& session) {
  return define_agent(
    rt, "memo",
    [&session](context ctx, agent_session<memo> mine, input<std::string> in,
               agent_responder<std::string> out) -> task<int> {
      session = detail::access::owner(ctx).link().session.address();
      int count = 0;
      while (auto text = co_await in.next()) {
        ++count;
        co_await mine.update([&](memo& x) { x.said.push_back(*text); });
        co_await out.end_turn();
      }
      co_return count;
    },
    with_snapshot_store(store), with_snapshot_callback(snapshot_always{}));
}

/// Node with the store.
struct store_node {
  store_node() : store(spawn_sqlite_store(system, folder / "sessions.db")) {
    port = publish_actor(system, store);
  }

  ~store_node() {
    stop();
  }

  /// Ends the store: its clients lose it.
  void stop() {
    if (!store)
      return;
    caf::scoped_actor self{system};
    self->send_exit(store, caf::exit_reason::user_shutdown);
    self->wait_for(store);
    store = nullptr;
  }

  scratch folder;
  network_config cfg;
  caf::actor_system system{cfg};
  managed_store store;
  std::uint16_t port = 0;
};

/// Node with a runtime.
struct runtime_node {
  explicit runtime_node(std::uint16_t port) {
    store = remote_actor<managed_store>(system, "127.0.0.1", port);
    agent = std::make_unique<memo_agent>(define_memo(rt, store, session));
  }

  template <class... Options>
  memo_connection open(const Options&... options) {
    return agent->stream_bidi(with_session_id("s"), options...);
  }

  network_config cfg;
  caf::actor_system system{cfg};
  managed_store store;
  caf::actor_addr session;
  runtime rt{system};
  std::unique_ptr<memo_agent> agent;
};

struct shared_store : ::testing::Test {
  store_node server;
  runtime_node here{server.port};
  runtime_node there{server.port};
};

void say(memo_connection& talk, const std::string& text) {
  talk.send(text);
  EXPECT_TRUE(read_turn(talk).empty());
}

} // namespace

TEST_F(shared_store, a_session_that_is_live_on_another_node_is_refused) {
  auto first = here.open();
  say(first, "one");
  try {
    (void)there.open();
    FAIL() << "the session has two live invocations";
  } catch (const status_error& x) {
    EXPECT_EQ(x.code(), errc::failed_precondition);
    EXPECT_NE(std::string{x.what()}.find(", in process "), std::string::npos)
      << x.what();
  }
  say(first, "two");
  first.close();
  EXPECT_EQ(first.output(patience).output, 2);
  // After the last message the session is free, also there.
  auto second = there.open();
  say(second, "three");
  second.close();
  EXPECT_EQ(second.output(patience).state.said,
            (std::vector<std::string>{"one", "two", "three"}));
}

TEST_F(shared_store, a_session_is_taken_over_from_another_node) {
  auto first = here.open();
  say(first, "one");
  auto second = there.open(with_take_over{});
  EXPECT_EQ(code_from([&] { (void)first.output(patience); }), errc::cancelled);
  say(second, "two");
  second.close();
  EXPECT_EQ(second.output(patience).state.said,
            (std::vector<std::string>{"one", "two"}));
}

TEST_F(shared_store, a_store_of_many_conversations_remembers_none) {
  auto talk = here.open();
  say(talk, "one");
  talk.close();
  EXPECT_EQ(talk.output(patience).output, 1);
  const caf::default_attachable::observe_token monitor{
    here.session, caf::default_attachable::monitor};
  auto* remembering = caf::actor_cast<caf::abstract_actor*>(here.store);
  EXPECT_EQ(remembering->detach(monitor), 0u);
}

TEST_F(shared_store, a_run_whose_store_is_lost_has_one_end) {
  auto first = here.open();
  say(first, "one");
  server.stop();
  first.send("two");
  EXPECT_EQ(code_from([&] { (void)first.output(patience); }),
            errc::unavailable);
}

} // namespace tertulia::test::shared_store_tests
