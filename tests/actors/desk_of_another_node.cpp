// SPDX-License-Identifier: BSD-3-Clause

// A desk far outlives its clients. An actor that monitors a desk during a
// request has to demonitor it afterwards: otherwise CAF keeps the memory of
// that actor until the desk ends.

#include <tertulia/descriptor.hpp>
#include <tertulia/remote_runtime.hpp>
#include <tertulia/store/runs.hpp>

#include <caf/io/middleman.hpp>
#include <caf/scoped_actor.hpp>

#include <atomic>
#include <chrono>
#include <future>
#include <optional>
#include <utility>

#include "support/network_config.hpp"
#include "support/threaded.hpp"

using namespace std::literals;

namespace tertulia::test::desk_of_another_node_tests {

namespace {

/// Two actor systems, as if in two processes. The connections that `there`
/// opens go through a desk that records the sinks.
struct desk_of_another_node : ::testing::Test {
  desk_of_another_node() {
    rt.define_bidi_flow(
      "echo", [](context, input<int> in, output<int> out) -> task<int> {
        while (auto x = co_await in.next())
          co_await out.send(*x);
        co_return 7;
      });
    desk = here.spawn<caf::hidden>([this](front_desk_actor::pointer self)
                                     -> front_desk_actor::behavior_type {
      return {
        [=, this](open_request& x) {
          sink = x.client.id();
          return self->delegate(rt.front_desk(), std::move(x));
        },
        [=, this](run_request& x) {
          return self->delegate(rt.front_desk(), std::move(x));
        },
        [=, this](list_runs_request& x) {
          return self->delegate(rt.front_desk(), std::move(x));
        },
        [=, this](list_atom x) { return self->delegate(rt.front_desk(), x); },
        [=, this](caf::get_atom x, const std::string& key) {
          return self->delegate(rt.front_desk(), x, key);
        },
      };
    });
    const auto port = here.middleman().publish(desk, 0, "127.0.0.1");
    client.emplace(there, std::vector{endpoint{"127.0.0.1", *port}},
                   reconnect_policy{.patience = 100ms});
  }

  ~desk_of_another_node() override {
    caf::anon_send_exit(desk, caf::exit_reason::user_shutdown);
  }

  auto echo() {
    return client->action<nothing, int, int, int>("/bidi-flow/echo");
  }

  /// Returns whether the actor ends and only the caller holds its memory.
  static bool is_forgotten(const caf::actor_addr& x) {
    return eventually([&] {
      const auto* block = caf::actor_cast<caf::actor_control_block*>(x);
      return block->strong_refs == 0 && block->weak_refs == 1;
    });
  }

  network_config here_cfg;
  caf::actor_system here{here_cfg};
  network_config there_cfg;
  caf::actor_system there{there_cfg};
  runtime rt{here};
  std::atomic<caf::actor_id> sink = 0;
  front_desk_actor desk;
  std::optional<remote_runtime> client; ///< holds the proxy of the desk
};

} // namespace

TEST_F(desk_of_another_node, forgets_a_connection_whose_client_lives_on) {
  const auto what = echo().opening_for({});
  std::promise<caf::actor_addr> connection;
  gate finished_once;
  const auto client
    = here.spawn([&](chunk_sink::pointer self) -> chunk_sink::behavior_type {
        auto message = what;
        message.client = self;
        self->request(rt.front_desk(), patience, std::move(message))
          .then([&, self](const open_result& x) {
            connection.set_value(x.connection.address());
            self->send(x.connection, caf::close_atom_v);
          });
        return {[](chunk_batch&) {}, [](input_credit) {}, [](turn_end) {},
                [&](completion&) { finished_once.open(); }};
      });
  const auto ended = connection.get_future().get();
  finished_once.wait();
  EXPECT_TRUE(is_forgotten(ended));
  caf::anon_send_exit(client, caf::exit_reason::user_shutdown);
}

TEST_F(desk_of_another_node, answers_no_question_of_a_body_when_it_is_lost) {
  std::optional<network_config> far_cfg{std::in_place};
  std::optional<caf::actor_system> far{std::in_place, *far_cfg};
  gate asked;
  const auto silent
    = far->spawn([&](caf::event_based_actor* self) -> caf::behavior {
        return {[&, self](int) {
          asked.open();
          return self->make_response_promise<int>();
        }};
      });
  const auto port = far->middleman().publish(silent, 0, "127.0.0.1");
  const auto other = there.middleman().remote_actor("127.0.0.1", *port);
  ASSERT_TRUE(other);
  using question = caf::typed_actor<caf::replies_to<int>::with<int>>;
  runtime local{there};
  const auto flow = local.define_bidi_flow(
    "ask", [&](context ctx, input<int>, output<int>) -> task<int> {
      co_return co_await ctx.ask(caf::actor_cast<question>(*other), 1h, 1);
    });
  auto talk = flow.stream_bidi();
  asked.wait();
  caf::anon_send_exit(silent, caf::exit_reason::kill);
  far.reset();
  EXPECT_EQ(code_from([&] { talk.output(patience); }), errc::unavailable);
}

TEST_F(desk_of_another_node, forgets_a_client_that_is_a_thread) {
  caf::actor_addr listener;
  {
    auto talk = echo().stream_bidi();
    // CAF registers the actors that are known to another node.
    listener = caf::actor_cast<caf::actor_addr>(
      there.registry().get<caf::strong_actor_ptr>(sink));
    ASSERT_TRUE(listener);
    talk.send(1);
    talk.close();
    EXPECT_EQ(talk.output(patience), 7);
  }
  EXPECT_TRUE(is_forgotten(listener));
}

TEST_F(desk_of_another_node, forgets_a_body_that_has_called_a_flow) {
  runtime local{there};
  auto inner = echo();
  caf::actor_addr host;
  auto relay = local.define_bidi_flow(
    "relay", [&](context ctx, input<int>, output<int>) -> task<int> {
      host
        = caf::actor_cast<caf::actor_addr>(detail::access::owner(ctx).self());
      auto talk = co_await inner.open(ctx);
      talk.close();
      co_return co_await talk.output();
    });
  {
    auto talk = relay.stream_bidi();
    EXPECT_EQ(talk.output(patience), 7);
  }
  EXPECT_TRUE(is_forgotten(host));
}

TEST_F(desk_of_another_node, is_unavailable_to_a_body_when_it_has_ended) {
  runtime local{there};
  auto inner = echo();
  auto relay = local.define_bidi_flow(
    "relay", [&](context ctx, input<int>, output<int>) -> task<int> {
      auto talk = co_await inner.open(ctx);
      co_return co_await talk.output();
    });
  caf::scoped_actor self{there};
  self->monitor(client->front_desk());
  caf::anon_send_exit(desk, caf::exit_reason::user_shutdown);
  self->receive([](const caf::down_msg&) {});
  auto talk = relay.stream_bidi();
  EXPECT_EQ(code_from([&] { talk.output(patience); }), errc::unavailable);
}

namespace {

/// Client on another node that stops processing messages as soon as its
/// connection is open, and a runtime that is stopped then.
struct desk_of_a_still_client : ::testing::Test {
  ~desk_of_a_still_client() override {
    over.open();
  }

  /// @param f body that opens `ready` when the runtime may be stopped.
  template <class Body>
  bool stops_with(Body f) {
    rt->define_bidi_flow("f", std::move(f));
    const remote_runtime far{there, "127.0.0.1", rt->publish()};
    there.spawn([&](chunk_sink::pointer self) -> chunk_sink::behavior_type {
      open_request open_message;
      open_message.key = "/bidi-flow/f";
      open_message.client = self;
      self->request(far.front_desk(), patience, std::move(open_message))
        .then([self, still = still, over = over](const open_result&) {
          still.open();
          over.wait();
          self->quit();
        });
      return {[](chunk_batch&) {}, [](input_credit) {}, [](turn_end) {},
              [](completion&) {}};
    });
    still.wait();
    ready.wait();
    stopped = std::async(std::launch::async, [this] { rt.reset(); });
    return stopped.wait_for(patience) == std::future_status::ready;
  }

  gate ready;
  gate still;
  gate over;
  network_config here_cfg;
  caf::actor_system here{here_cfg};
  network_config there_cfg;
  caf::actor_system there{there_cfg};
  std::optional<runtime> rt{std::in_place, here};
  std::future<void> stopped;
};

} // namespace

TEST_F(desk_of_a_still_client, stops_in_the_middle_of_a_conversation) {
  EXPECT_TRUE(stops_with([this](context, input<int> in, output<int>) //
                         -> task<int> {
    ready.open();
    co_await in.next();
    co_return 0;
  }));
}

TEST_F(desk_of_a_still_client, stops_when_the_last_word_is_said) {
  EXPECT_TRUE(stops_with([this](context, input<int>, output<int>) //
                         -> task<int> {
    ready.open();
    co_return 0;
  }));
}

} // namespace tertulia::test::desk_of_another_node_tests
