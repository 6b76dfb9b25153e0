// SPDX-License-Identifier: BSD-3-Clause

// Many conversations, one after the other and side by side: what they used must
// come back.

#include <tertulia/runtime.hpp>

#include <caf/all.hpp>

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <thread>

#include "support/memory.hpp"
#include <gtest/gtest.h>

using namespace std::chrono_literals;

namespace tertulia::test {

namespace {

constexpr auto patience = 100s;

task<int> echo(context, input<std::string> in, output<std::string> out) {
  int count = 0;
  while (auto text = co_await in.next()) {
    ++count;
    co_await out.send(*text);
    co_await out.end_turn();
  }
  co_return count;
}

/// What the clients of one crowd share.
struct crowd {
  front_desk_actor desk;
  open what;
  std::atomic<int> to_open;
  std::atomic<int> running;
  std::atomic<int> right = 0;
  std::promise<void> done;
};

/// Opens a conversation, has one turn, closes it, and makes room for the next
/// one. An actor for each, because CAF keeps the time-out of an answered
/// request until the requester ends.
chunk_sink::behavior_type client(chunk_sink::pointer self,
                                 const std::shared_ptr<crowd>& of) {
  auto what = of->what;
  what.client = self;
  self->request(of->desk, patience, std::move(what)).then([=](const opened& x) {
    self->send(x.connection, turn_input{payload::of(std::string{"hello"})});
  });
  return {
    [](chunk_batch&) {},
    [](input_credit) {},
    [=](turn_end) {
      self->send(caf::actor_cast<connection_actor>(self->current_sender()),
                 caf::close_atom_v);
    },
    [=](finished& x) {
      if (!x.reason && x.inputs == 1 && x.chunks == 1)
        ++of->right;
      if (--of->to_open >= 0)
        self->spawn(client, of);
      else if (--of->running == 0)
        of->done.set_value();
      self->quit();
    },
  };
}

struct soak : ::testing::Test {
  soak() : system(cfg), rt(system), idle(system.registry().running()) {}

  void converse(int total, int at_once) {
    auto all = std::make_shared<crowd>();
    all->desk = rt.front_desk();
    all->what = flow.opening_for({});
    all->to_open = total - at_once;
    all->running = at_once;
    for (int i = 0; i < at_once; ++i)
      system.spawn(client, all);
    ASSERT_EQ(all->done.get_future().wait_for(patience),
              std::future_status::ready);
    EXPECT_EQ(all->right, total);
    wait_until_idle();
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
  std::size_t idle;
};

} // namespace

TEST_F(soak, actors_and_memory_of_100_000_conversations_come_back) {
  converse(10'000, 64); // allocators and pools take what they will keep
  const auto before = bytes_in_use();
  converse(100'000, 64);
  const auto after = bytes_in_use();
  // Less than three bytes a conversation: nothing of any of them is left.
  EXPECT_LT(after, before + 256 * 1'024);
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
  for (int i = 0; i < 500; ++i)
    converse_once();
  wait_until_idle();
  const auto before = bytes_in_use();
  for (int i = 0; i < 5'000; ++i)
    converse_once();
  wait_until_idle();
  EXPECT_LT(bytes_in_use(), before + 256 * 1'024);
}

} // namespace tertulia::test
