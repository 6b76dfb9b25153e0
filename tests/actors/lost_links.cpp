// SPDX-License-Identifier: BSD-3-Clause

// Clients of another node whose link is lost while their run goes on.

#include "support/lost_links.hpp"

#include <tertulia/actor_client.hpp>
#include <tertulia/remote_actor.hpp>
#include <tertulia/store/runs.hpp>
#include <tertulia/when.hpp>

#include <caf/event_based_actor.hpp>
#include <caf/io/middleman.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_response_promise.hpp>

#include <future>
#include <string>

using namespace std::literals;

namespace tertulia::test::lost_links_tests {

TEST_F(lost_links, a_client_of_a_kept_run_does_not_notice) {
  constexpr int turns = 20;
  constexpr int chunks = 1'000;
  auto talk = counter().stream_bidi(with_keep(1min));
  std::vector<int> received;
  for (int turn = 0; turn < turns; ++turn) {
    talk.send(chunks);
    int in_turn = 0;
    for (const auto x : talk.responses(patience)) {
      received.push_back(x);
      if (++in_turn == 100 + turn * 37)
        link->cut();
    }
  }
  ASSERT_EQ(received.size(), static_cast<std::size_t>(turns * chunks));
  for (int i = 0; i < turns * chunks; ++i)
    ASSERT_EQ(received[static_cast<std::size_t>(i)], i);
  talk.close();
  EXPECT_EQ(talk.output(patience), turns * chunks);
  EXPECT_EQ(inputs, turns);
  const auto flow = client->action<counter_flow>("/bidi-flow/counter");
  EXPECT_TRUE(eventually([&] {
    return code_from([&] { (void)flow.find_run(talk.position().run); })
           == errc::not_found;
  }))
    << "its end was heard";
}

TEST_F(lost_links, an_input_is_taken_once_wherever_the_link_is_cut) {
  constexpr int turns = 200;
  auto talk = counter().stream_bidi(with_keep(1min), with_input_window(4));
  std::jthread cutter{[this](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      const auto before = inputs.load();
      link->cut();
      while (!stop.stop_requested() && inputs < before + 7)
        std::this_thread::yield();
    }
  }};
  std::jthread sender{[&] {
    for (int turn = 0; turn < turns; ++turn)
      talk.send(1);
    talk.close();
  }};
  std::vector<int> received;
  do {
    for (const auto x : talk.responses(patience))
      received.push_back(x);
  } while (!talk.finished());
  EXPECT_EQ(talk.output(patience), turns);
  EXPECT_EQ(received.size(), static_cast<std::size_t>(turns));
  EXPECT_EQ(inputs, turns);
}

TEST_F(lost_links, a_body_comes_back) {
  constexpr int turns = 20;
  constexpr int chunks = 300;
  const auto far = counter();
  runtime near{there};
  const auto mirror = near.define_bidi_flow(
    "mirror",
    [far, this](context ctx, input<int> in, output<int> out) -> task<int> {
      const with_keep kept{1min};
      auto talk = co_await far.open(ctx, kept);
      while (const auto count = co_await in.next()) {
        co_await talk.send(*count);
        while (const auto x = co_await talk.next()) {
          if (*x % 211 == 5)
            link->cut();
          co_await out.send(*x);
        }
        co_await out.end_turn();
      }
      talk.close();
      co_return co_await talk.output();
    });
  auto talk = mirror.stream_bidi();
  std::vector<int> received;
  for (int turn = 0; turn < turns; ++turn) {
    talk.send(chunks);
    for (const auto x : talk.responses(patience))
      received.push_back(x);
  }
  ASSERT_EQ(received.size(), static_cast<std::size_t>(turns * chunks));
  for (int i = 0; i < turns * chunks; ++i)
    ASSERT_EQ(received[static_cast<std::size_t>(i)], i);
  talk.close();
  EXPECT_EQ(talk.output(patience), turns * chunks);
  EXPECT_EQ(inputs, turns);
}

TEST_F(lost_links, a_body_that_leaves_meanwhile_is_gone) {
  const auto far = counter();
  runtime near{there};
  const auto visitor = near.define_bidi_flow(
    "visitor",
    [far, this](context ctx, input<int>, output<int>) -> task<std::string> {
      const with_keep kept{1min};
      auto talk = co_await far.open(ctx, kept);
      link->refuse();
      auto wait = talk.next();
      auto limit = ctx.sleep(200ms);
      co_await when_any(std::move(wait), std::move(limit));
      link->accept();
      const auto place = talk.detach();
      co_return place.run.str();
    });
  auto talk = visitor.stream_bidi();
  const auto run = run_id{talk.output(patience)};
  auto again = rt.action("/bidi-flow/counter").stream_bidi(with_run(run));
  again.send(json(2));
  again.close();
  EXPECT_EQ(again.output(patience), json(2));
}

TEST_F(lost_links, a_link_that_is_lost_on_the_way_back_is_looked_for_again) {
  // The first client that comes back gets no answer.
  std::atomic<int> returns = 0;
  const auto silent = here.spawn([&](caf::event_based_actor* self) {
    std::vector<caf::typed_response_promise<open_result>> unanswered;
    return caf::behavior{
      [self, unanswered, &returns, desk = rt.front_desk()](
        open_request& x) mutable -> caf::result<open_result> {
        if (x.options.attach && returns++ == 0)
          return unanswered.emplace_back(
            self->make_response_promise<open_result>());
        return self->delegate(desk, std::move(x));
      },
      [self, desk = rt.front_desk()](list_atom x) {
        return self->delegate(desk, x);
      }};
  });
  link.emplace(publish_actor(here, caf::actor_cast<front_desk_actor>(silent)));
  const auto far = counter(5s); // less than the time for an answer
  runtime near{there};
  const auto visitor = near.define_bidi_flow(
    "visitor", [far, this](context ctx, input<int>, output<int>) -> task<int> {
      const with_keep kept{1min};
      auto talk = co_await far.open(ctx, kept);
      link->cut();
      co_await talk.send(3);
      talk.close();
      co_return co_await talk.output();
    });
  auto talk = visitor.stream_bidi();
  EXPECT_TRUE(eventually([&] { return returns == 1; }));
  link->cut();
  EXPECT_EQ(talk.output(patience), 3);
  caf::anon_send_exit(silent, caf::exit_reason::user_shutdown);
}

TEST_F(lost_links, the_patience_of_a_body_ends_with_unavailable) {
  const auto far = counter(100ms);
  runtime near{there};
  const auto visitor = near.define_bidi_flow(
    "visitor",
    [far, this](context ctx, input<int>, output<int>) -> task<std::string> {
      const with_keep kept{1min};
      auto talk = co_await far.open(ctx, kept);
      link->refuse();
      const auto reason = co_await as_expected(talk.output());
      co_return std::string{reason ? "ok" : to_string(code_of(reason.error()))};
    });
  EXPECT_EQ(visitor.stream_bidi().output(patience), "unavailable");
  link->accept();
}

TEST_F(lost_links, an_actor_comes_back) {
  static constexpr int turns = 20;
  static constexpr int chunks = 300;
  std::promise<std::vector<int>> all;
  struct collector : actor_client<counter_flow> {
    using actor_client::actor_client;

    void on_credit() override {
      if (sent == turns)
        return close();
      ++sent;
      send(chunks);
    }

    void on_chunk(int& x) override {
      if (x % 211 == 5)
        link->cut();
      received.push_back(x);
    }

    void on_output(int&) override {
      all->set_value(std::move(received));
      self()->quit();
    }

    void on_error(const status_error& x) override {
      ADD_FAILURE() << x.what();
      all->set_value(std::move(received));
      self()->quit();
    }

    cut_link* link = nullptr;
    std::promise<std::vector<int>>* all = nullptr;
    std::vector<int> received;
    int sent = 0;
  };
  there.spawn(
    [&](caf::stateful_actor<collector>* self, const counter_flow& far) {
      self->state.link = &*link;
      self->state.all = &all;
      far.open(self->state, with_keep(1min));
      return caf::behavior{self->state.handlers()};
    },
    counter());
  const auto received = all.get_future().get();
  ASSERT_EQ(received.size(), static_cast<std::size_t>(turns * chunks));
  for (int i = 0; i < turns * chunks; ++i)
    ASSERT_EQ(received[static_cast<std::size_t>(i)], i);
  EXPECT_EQ(inputs, turns);
}

TEST_F(lost_links, a_connection_that_does_not_answer_is_opened_again) {
  auto talk = counter().stream_bidi(with_keep(1min));
  link->mute_next();
  link->cut();
  talk.send(3);
  std::vector<int> received;
  for (const auto x : talk.responses(patience))
    received.push_back(x);
  EXPECT_EQ(received, (std::vector{0, 1, 2}));
  link->mute_next();
  link->cut();
  auto other = counter().stream_bidi();
  other.close();
  EXPECT_EQ(other.output(patience), 0);
  // Not left while it looks for its node: the systems would end in that search.
  talk.close();
  EXPECT_EQ(talk.output(patience), 3);
}

TEST_F(lost_links, a_client_waits_until_the_link_is_back) {
  auto talk = counter().stream_bidi(with_keep(1min));
  link->refuse();
  std::jthread back{[this] {
    // The client notices the loss, and has tried in vain.
    EXPECT_TRUE(eventually([] { return witness::alive() == 1; }));
    link->accept();
  }};
  talk.send(3);
  std::vector<int> received;
  for (const auto x : talk.responses(patience))
    received.push_back(x);
  EXPECT_EQ(received, (std::vector{0, 1, 2}));
}

TEST_F(lost_links, patience_ends_with_unavailable) {
  auto talk = counter(100ms).stream_bidi(with_keep(1min));
  link->refuse();
  EXPECT_EQ(code_from([&] { talk.output(patience); }), errc::unavailable);
  link->accept();
  auto again = rt.action("/bidi-flow/counter");
  EXPECT_EQ(again.abort(talk.position().run).status, run_status::running)
    << "the run goes on";
}

TEST_F(lost_links, a_client_that_cancels_ends_a_kept_run) {
  auto talk = counter().stream_bidi(with_keep(1min));
  EXPECT_TRUE(eventually([] { return witness::alive() == 1; }));
  talk.cancel();
  EXPECT_EQ(code_from([&] { talk.output(patience); }), errc::cancelled);
  EXPECT_TRUE(eventually([] { return witness::alive() == 0; }));
}

TEST_F(lost_links, a_run_that_is_not_kept_is_cancelled) {
  auto talk = counter().stream_bidi();
  EXPECT_TRUE(eventually([] { return witness::alive() == 1; }));
  link->cut();
  EXPECT_EQ(code_from([&] { talk.output(patience); }), errc::unavailable);
  EXPECT_TRUE(eventually([] { return witness::alive() == 0; }));
}

TEST_F(lost_links, a_client_that_was_replaced_meanwhile_hears_so) {
  auto talk = counter().stream_bidi(with_keep(1min));
  const auto run = talk.position().run;
  link->refuse();
  auto other = rt.action("/bidi-flow/counter").stream_bidi(with_run(run));
  link->accept();
  EXPECT_EQ(code_from([&] { talk.output(patience); }), errc::aborted);
  other.send(json(2));
  other.close();
  EXPECT_EQ(other.output(patience), json(2));
}

TEST_F(lost_links, an_end_that_no_client_has_taken_is_held) {
  const auto flow = counter();
  std::promise<cursor> ended;
  // It answers the end, and has no client that confirms it.
  const auto sink = there.spawn([&](caf::event_based_actor* self) {
    auto question = flow.opening_for({}, with_keep(1min));
    question.client
      = caf::actor_cast<chunk_sink>(caf::strong_actor_ptr{self->ctrl()});
    self->request(client->front_desk(), caf::infinite, std::move(question))
      .then([self, &ended](const open_result& x) {
        const cursor begin{x.attached.run, 0};
        self->become([](const input_credit&) {}, [](const chunk_batch&) {},
                     [self](const completion&) {
                       self->send(self, caf::ok_atom::value);
                     },
                     [&ended, begin](caf::ok_atom) { ended.set_value(begin); });
        self->send(x.connection, caf::close_atom_v);
      });
    return caf::behavior{[](caf::tick_atom) {}};
  });
  auto begin = ended.get_future();
  const auto found = begin.wait_for(patience);
  caf::anon_send_exit(sink, caf::exit_reason::user_shutdown);
  ASSERT_EQ(found, std::future_status::ready);
  auto next = flow.stream_bidi(with_cursor(begin.get()));
  EXPECT_EQ(next.output(patience), 0);
}

TEST_F(lost_links, a_detached_client_leaves_the_run_alone) {
  auto flow = counter();
  auto talk = flow.stream_bidi(with_keep(1min));
  talk.send(5);
  const auto place = talk.detach();
  const auto found = flow.find_run(place.run);
  EXPECT_EQ(found.status, run_status::running);
  EXPECT_EQ(found.key, "/bidi-flow/counter");
  auto next = flow.stream_bidi(with_cursor(place));
  std::vector<int> received;
  for (const auto x : next.responses(patience))
    received.push_back(x);
  EXPECT_EQ(received, (std::vector{0, 1, 2, 3, 4}));
  EXPECT_EQ(code_from([&] { talk.send(1); }), errc::failed_precondition);
  EXPECT_EQ(flow.abort(place.run).id, place.run);
  EXPECT_EQ(code_from([&] { next.output(patience); }), errc::aborted);
  EXPECT_EQ(code_from([&] { (void)flow.find_run(run_id{"none"}); }),
            errc::not_found);
}

} // namespace tertulia::test::lost_links_tests
