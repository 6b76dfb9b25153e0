// SPDX-License-Identifier: BSD-3-Clause

// Many conversations, one after the other and side by side: all resources that
// they use must be released.

#include <tertulia/ai/chat_agent.hpp>
#include <tertulia/ai/session_flow.hpp>
#include <tertulia/define_agent.hpp>
#include <tertulia/memory_store.hpp>
#include <tertulia/runtime.hpp>

#include <caf/all.hpp>

#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "support/effort.hpp"
#include "support/memory.hpp"
#include "support/states.hpp"
#include <gtest/gtest.h>

using namespace std::chrono_literals;

namespace tertulia::test::soak_tests {

namespace {

constexpr auto patience = 100s;

const int many = by_effort(3'000, 30'000, 100'000);
const int some = many / 5;   // for tests in which only the body differs
const int first = many / 20; // warm-up of allocators and pools

task<int> echo(context, input<std::string> in, output<std::string> out) {
  int count = 0;
  while (auto text = co_await in.next()) {
    ++count;
    co_await out.send(*text);
    co_await out.end_turn();
  }
  co_return count;
}

task<int> remember(context, agent_session<memo> mine, input<std::string> in,
                   agent_responder<std::string> out) {
  int count = 0;
  while (auto text = co_await in.next()) {
    ++count;
    co_await mine.update([&](memo& x) { x.said.push_back(*text); });
    co_await out.send(*text);
    co_await out.end_turn();
  }
  co_return count;
}

task<> listen(context, ai::chat_session<memo> mine,
              input<ai::conversation_input> in, ai::chat_responder<int> out) {
  while (const auto input = co_await in.next()) {
    co_await mine.add_messages(input->messages);
    co_await out.send_artifact("heard", ai::part::text("hi"));
    co_await out.end_turn();
  }
}

task<> listen_in_turns(context ctx, ai::flow_session<memo> mine,
                       ai::flow_responder<int> out) {
  co_await mine.run_turns(
    ctx, [out](context, const ai::conversation_input&) mutable -> task<> {
      co_await out.send_artifact("heard", ai::part::text("hi"));
    });
}

using speech = std::function<payload(std::string)>;

payload text_payload(std::string text) {
  return payload::of(std::move(text));
}

payload message_payload(std::string text) {
  ai::conversation_input result;
  result.messages.push_back(ai::user_text(std::move(text)));
  return payload::of(std::move(result));
}

/// Data shared by the clients of one crowd.
struct crowd {
  front_desk_actor desk;
  open_request what;
  /// Store in which each client has a session of its own; null for none.
  managed_store store;
  /// Input of a client. It differs between sessions, which would otherwise
  /// share one state.
  speech say;
  std::atomic<int> to_open;
  std::atomic<int> running;
  std::atomic<int> named = 0;
  std::atomic<int> right = 0;
  std::promise<void> done;
};

/// Client that opens a conversation, takes one turn, closes it, deletes its
/// session, and makes room for the next client. Each conversation has a client
/// actor of its own, because CAF keeps the time-out of an answered request
/// until the requester ends.
chunk_sink::behavior_type client(chunk_sink::pointer self,
                                 const std::shared_ptr<crowd>& of) {
  auto what = of->what;
  what.client = self;
  const session_ref own{what.key,
                        session_id{"session" + std::to_string(++of->named)}};
  if (of->store)
    what.options.session = own.id;
  self->request(of->desk, patience, std::move(what))
    .then([=](const open_result& x) {
      self->send(x.connection, turn_input{of->say(own.id.str())});
    });
  const auto leave = [=](bool right) {
    if (right)
      ++of->right;
    if (--of->to_open >= 0)
      self->spawn(client, of);
    else if (--of->running == 0)
      of->done.set_value();
    self->quit();
  };
  return {
    [](chunk_batch&) {},
    [](input_credit) {},
    [=](turn_end) {
      self->send(caf::actor_cast<connection_actor>(self->current_sender()),
                 caf::close_atom_v);
    },
    [=](completion& x) {
      const auto right = !x.reason && x.inputs == 1 && x.length != 0;
      if (!of->store)
        leave(right && x.length == 2);
      else
        self->request(of->store, caf::infinite, delete_session_request{own})
          .then([=](const erase_result& gone) {
            leave(right && gone.records == 1);
          });
    },
  };
}

struct soak : ::testing::Test {
  soak() : system(cfg), rt(system), idle(system.registry().running()) {}

  void converse(const open_request& request, const speech& say,
                const managed_store& sessions, int total) {
    auto all = std::make_shared<crowd>();
    constexpr auto at_once = 64;
    all->desk = rt.front_desk();
    all->what = request;
    all->store = sessions;
    all->say = say;
    all->to_open = total - at_once;
    all->running = at_once;
    for (int i = 0; i < at_once; ++i)
      system.spawn(client, all);
    ASSERT_EQ(all->done.get_future().wait_for(patience),
              std::future_status::ready);
    EXPECT_EQ(all->right, total);
    wait_until_idle();
  }

  void expect_all_comes_back(const open_request& request, const speech& say,
                             const managed_store& sessions, int total) {
    converse(request, say, sessions, first);
    const auto before = bytes_in_use();
    converse(request, say, sessions, total);
    const auto after = bytes_in_use();
    // A few bytes for each: no actor, lease, timer, record or state is left.
    EXPECT_LT(after, before + 256 * 1'024);
  }

  void wait_until_idle() {
    const auto give_up = std::chrono::steady_clock::now() + patience;
    while (system.registry().running() > idle
           && std::chrono::steady_clock::now() < give_up)
      std::this_thread::yield();
    EXPECT_EQ(system.registry().running(), idle);
  }

  config cfg;
  caf::actor_system system;
  runtime rt;
  bidi_flow<nothing, std::string, int, std::string> flow
    = rt.define_bidi_flow("echo", echo);
  managed_store store = spawn_memory_store(system);
  bidi_flow<memo, std::string, agent_output<memo, int>, std::string> agent
    = define_agent(rt, "memo", remember, with_snapshot_store(store), each_time);
  std::size_t idle;
};

} // namespace

TEST_F(soak, actors_and_memory_of_many_conversations_come_back) {
  expect_all_comes_back(flow.opening_for({}), text_payload, {}, many);
}

TEST_F(soak, actors_and_memory_of_many_deleted_sessions_come_back) {
  expect_all_comes_back(agent.opening_for({}), text_payload, store, many);
}

TEST_F(soak, actors_and_memory_of_many_deleted_chats_come_back) {
  const auto chat = ai::define_chat_agent(
    rt, "chat", listen, with_snapshot_store(store), each_time);
  expect_all_comes_back(chat.opening_for({}), message_payload, store, some);
}

TEST_F(soak, actors_and_memory_of_many_deleted_session_flows_come_back) {
  const auto chat = ai::define_session_flow(rt, "flow", listen_in_turns,
                                            with_snapshot_store(store));
  expect_all_comes_back(chat.opening_for({}), message_payload, store, some);
}

TEST_F(soak, conversations_of_threads_come_back_too) {
  const auto converse_once = [&] {
    auto talk = flow.stream_bidi();
    talk.send("hello");
    for (auto& x : talk.responses(patience))
      EXPECT_EQ(x, "hello");
    talk.close();
    EXPECT_EQ(talk.output(patience), 1);
  };
  const auto end_otherwise = [&] {
    (void)flow.stream_bidi(); // dropped at once
    auto talk = flow.stream_bidi();
    talk.cancel();
    EXPECT_THROW(talk.output(patience), status_error);
    EXPECT_THROW((void)rt.stream_bidi("/bidi-flow/unknown"), status_error);
  };
  const auto converse_often = [&](int times) {
    for (int i = 0; i < times; ++i) {
      converse_once();
      end_otherwise();
    }
    wait_until_idle();
  };
  converse_often(500);
  const auto before = bytes_in_use();
  converse_often(5'000);
  EXPECT_LT(bytes_in_use(), before + 256 * 1'024);
}

} // namespace tertulia::test::soak_tests
