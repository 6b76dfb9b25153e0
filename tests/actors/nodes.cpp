// SPDX-License-Identifier: BSD-3-Clause

// Two processes, joined by CAF's network module.

#include <tertulia/descriptor.hpp>
#include <tertulia/remote_runtime.hpp>

#include <caf/io/middleman.hpp>

#include <atomic>
#include <future>
#include <limits>

#include "support/child_process.hpp"
#include "support/network_config.hpp"
#include "support/node_flows.hpp"
#include "support/threaded.hpp"
#include <gtest/gtest.h>

namespace tertulia::test::nodes_tests {

namespace {

/// Fixture in which this process is a client of another one.
struct node_client : ::testing::Test {
  node_client()
    : server("node_server", {}),
      port(static_cast<std::uint16_t>(std::stoi(server.read_line()))),
      system(cfg), there(system, {endpoint{"127.0.0.1", port}},
                         reconnect_policy{std::chrono::seconds{0}}) {}

  template <class Init, class In, class Out, class Stream>
  auto action(const std::string& key) {
    return there.action<Init, In, Out, Stream>(key);
  }

  child_process server;
  std::uint16_t port;
  network_config cfg;
  caf::actor_system system;
  remote_runtime there;
};

/// Fixture in which this process is the server of another one.
struct node_server : ::testing::Test {
  node_server() : system(cfg), rt(system) {}

  /// @returns the port, as an argument for the client process.
  std::string publish() {
    auto port = std::to_string(rt.publish());
    before_ = system.registry().running();
    return port;
  }

  /// Returns whether the number of live connections becomes `count`.
  bool has_connections(std::size_t count) {
    return eventually(
      [=, this] { return system.registry().running() == before_ + count; });
  }

  /// Checks that the wait of the body was cancelled and nothing is left of it.
  void expect_cancelled() {
    auto outcome = seen.get_future();
    ASSERT_EQ(outcome.wait_for(patience), std::future_status::ready);
    EXPECT_EQ(outcome.get(), errc::cancelled);
    EXPECT_TRUE(has_connections(0));
  }

  std::promise<errc> seen;      ///< error that ended the body
  std::atomic<int> offered = 0; ///< chunks that the body has begun to send

  network_config cfg;
  caf::actor_system system;
  runtime rt;

private:
  std::size_t before_ = 0;
};

template <class Talk>
void read_all(Talk& talk) {
  do {
    for ([[maybe_unused]] const auto& x : talk.responses(patience))
      ;
  } while (!talk.finished());
}

} // namespace

TEST_F(node_client, a_conversation_with_another_process_is_like_any_other) {
  auto greet = action<std::string, greeting, int, greeting>("/bidi-flow/greet");
  auto talk = greet.stream_bidi(with_init(std::string{"dear "}));
  for (const auto* word : {"you", "me"}) {
    talk.send(word, 0.25);
    EXPECT_EQ(read_turn(talk),
              (std::vector{greeting{"dear " + std::string{word}, 0.5}}));
  }
  talk.close();
  EXPECT_EQ(talk.output(patience), 2);
}

TEST_F(node_client, many_chunks_cross_in_order_within_their_window) {
  auto count = action<nothing, int, int, int>("/bidi-flow/countUp");
  auto talk = count.stream_bidi(with_chunk_window(100));
  talk.send(20'000);
  talk.close();
  int expected = 0;
  for (auto x : talk.responses(patience))
    ASSERT_EQ(x, expected++);
  EXPECT_EQ(expected, 20'000);
  EXPECT_EQ(talk.output(patience), 0);
}

TEST_F(node_client, what_another_process_offers_can_be_listed) {
  std::vector<std::string> keys;
  for (const auto& x : there.actions())
    keys.push_back(x.key);
  EXPECT_EQ(keys,
            (std::vector<std::string>{"/bidi-flow/countUp", "/bidi-flow/goMad",
                                      "/bidi-flow/greet"}));
}

TEST_F(node_client, an_unknown_action_of_another_process_is_not_found) {
  const auto error = error_of(
    [&] { (void)action<nothing, int, int, int>("/bidi-flow/none"); });
  EXPECT_EQ(error.code(), errc::not_found);
}

TEST_F(node_client, a_flow_can_be_the_client_of_another_process) {
  runtime here{system};
  auto greet = action<std::string, greeting, int, greeting>("/bidi-flow/greet");
  auto relay = here.define_bidi_flow(
    "relay",
    [greet](context ctx, input<std::string> in,
            output<std::string> out) -> task<int> {
      auto talk = co_await greet.open(ctx, with_init(std::string{"my "}));
      while (auto word = co_await in.next()) {
        co_await talk.send(*word, 1.0);
        while (auto answer = co_await talk.next())
          co_await out.send(answer->word);
      }
      talk.close();
      co_return co_await talk.output();
    });
  auto talk = relay.stream_bidi();
  talk.send("word");
  talk.close();
  EXPECT_EQ(read_turn(talk), std::vector<std::string>{"my word"});
  EXPECT_EQ(talk.output(patience), 1);
}

TEST_F(node_client, an_actor_can_be_the_client_of_another_process) {
  auto greet = action<std::string, greeting, int, greeting>("/bidi-flow/greet");
  struct received {
    std::promise<std::string> word;
    std::promise<int> output;
  };
  auto log = std::make_shared<received>();
  auto what = greet.opening_for({}, with_init(std::string{"hey "}));
  system.spawn([=, desk = there.front_desk()](
                 chunk_sink::pointer self) -> chunk_sink::behavior_type {
    auto message = what;
    message.client = self;
    self->request(desk, patience, std::move(message))
      .then([=](const open_result& x) {
        self->send(x.connection, turn_input{payload::of(greeting{"you", 1})});
        self->send(x.connection, caf::close_atom_v);
      });
    const auto read = [=](chunk_batch& x) {
      for (const auto& y : std::move(x).take<greeting>())
        log->word.set_value(y.word);
    };
    return {
      read,
      [](input_credit) {},
      [=](turn_end& x) { read(x.last); },
      [=](completion& x) {
        log->output.set_value(std::move(x.output).take<int>());
        self->quit();
      },
    };
  });
  EXPECT_EQ(log->word.get_future().get(), "hey you");
  EXPECT_EQ(log->output.get_future().get(), 1);
}

TEST_F(node_client, a_killed_server_is_unavailable_to_all_its_clients) {
  auto greet = action<std::string, greeting, int, greeting>("/bidi-flow/greet");
  auto one = greet.stream_bidi();
  auto two = greet.stream_bidi();
  one.send("you", 1.0);
  for (auto& x : one.responses(patience))
    EXPECT_EQ(x.word, "you");
  server.kill();
  for (auto* talk : {&one, &two}) {
    const auto at_reader = error_of([&] { read_all(*talk); });
    const auto at_output = error_of([&] { (void)talk->output(patience); });
    EXPECT_EQ(at_reader.code(), errc::unavailable);
    EXPECT_EQ(at_output.code(), errc::unavailable);
    EXPECT_EQ(at_reader.message(), at_output.message());
  }
  const auto later = error_of([&] { (void)greet.stream_bidi(); });
  EXPECT_EQ(later.code(), errc::unavailable);
}

TEST_F(node_client, the_same_object_reaches_a_server_that_has_come_back) {
  auto greet = action<std::string, greeting, int, greeting>("/bidi-flow/greet");
  auto before = greet.stream_bidi();
  server.kill();
  EXPECT_EQ(code_from([&] { (void)before.output(patience); }),
            errc::unavailable);
  EXPECT_EQ(code_from([&] { (void)there.actions(); }), errc::unavailable);
  child_process again{"node_server", {std::to_string(port)}};
  again.read_line();
  EXPECT_EQ(there.actions().size(), 3u);
  auto talk = greet.stream_bidi();
  talk.send("you", 1.0);
  talk.close();
  EXPECT_EQ(talk.output(patience), 1);
}

TEST_F(node_client, a_body_and_many_threads_reach_a_server_that_has_come_back) {
  runtime here{system};
  auto greet = action<std::string, greeting, int, greeting>("/bidi-flow/greet");
  auto relay = here.define_bidi_flow(
    "relay", [greet](context ctx, input<int>, output<int>) -> task<int> {
      auto talk = co_await greet.open(ctx);
      talk.close();
      co_return co_await talk.output();
    });
  auto before = greet.stream_bidi();
  server.kill();
  EXPECT_EQ(code_from([&] { (void)before.output(patience); }),
            errc::unavailable);
  child_process again{"node_server", {std::to_string(port)}};
  again.read_line();
  std::vector<std::future<int>> all;
  for (auto i = 0; i < 8; ++i) {
    all.push_back(std::async(std::launch::async, [&] {
      auto talk = relay.stream_bidi();
      return talk.output(patience);
    }));
    all.push_back(std::async(std::launch::async, [&] {
      auto talk = greet.stream_bidi();
      talk.close();
      return talk.output(patience);
    }));
  }
  for (auto& x : all)
    EXPECT_EQ(x.get(), 0);
}

TEST_F(node_client, a_number_that_json_cannot_say_ends_the_connection) {
  auto mad = action<nothing, int, int, double>("/bidi-flow/goMad");
  auto talk = mad.stream_bidi();
  for (auto x : talk.responses(patience))
    EXPECT_EQ(x, 1.5);
  talk.send(0);
  const auto error = error_of([&] { read_all(talk); });
  EXPECT_EQ(error.code(), errc::invalid_argument);
  EXPECT_EQ(error.message(), "$[0]: expected a finite number, found NaN");
}

TEST_F(node_client, an_input_that_json_cannot_say_is_not_sent) {
  auto greet = action<std::string, greeting, int, greeting>("/bidi-flow/greet");
  auto talk = greet.stream_bidi();
  const auto error = error_of(
    [&] { talk.send("you", std::numeric_limits<double>::infinity()); });
  EXPECT_EQ(error.code(), errc::invalid_argument);
  EXPECT_EQ(error.message(),
            "$.warmth: expected a finite number, found an infinity");
  talk.send("you", 1.0);
  talk.close();
  EXPECT_EQ(talk.output(patience), 1);
}

TEST_F(node_client, types_that_do_not_fit_are_refused_with_their_path) {
  auto wrong = action<std::string, int, int, greeting>("/bidi-flow/greet");
  auto talk = wrong.stream_bidi();
  talk.send(1);
  const auto error = error_of([&] { (void)talk.output(patience); });
  EXPECT_EQ(error.code(), errc::invalid_argument);
  EXPECT_EQ(error.message(), "$: expected an object, found 1");
}

TEST_F(node_client, an_init_of_another_shape_is_refused_at_once) {
  auto wrong = action<int, greeting, int, greeting>("/bidi-flow/greet");
  const auto error = error_of([&] { (void)wrong.stream_bidi(with_init(1)); });
  EXPECT_EQ(error.code(), errc::invalid_argument);
}

TEST(nodes, where_nobody_listens_is_unavailable) {
  network_config cfg;
  caf::actor_system system{cfg};
  const auto error
    = error_of([&] { remote_runtime there(system, "127.0.0.1", 1); });
  EXPECT_EQ(error.code(), errc::unavailable);
}

TEST(nodes, plain_text_is_not_chosen_by_adding_cafs_module) {
  config cfg;
  cfg.load<caf::io::middleman>();
  caf::actor_system system{cfg};
  runtime rt{system};
  EXPECT_EQ(code_from([&] { (void)rt.publish(); }), errc::failed_precondition);
}

TEST(nodes, without_the_network_module_there_is_no_other_process) {
  config cfg;
  caf::actor_system system{cfg};
  const auto error
    = error_of([&] { remote_runtime there(system, "127.0.0.1", 1); });
  EXPECT_EQ(error.code(), errc::failed_precondition);
  runtime rt{system};
  EXPECT_EQ(error_of([&] { (void)rt.publish(); }).code(),
            errc::failed_precondition);
}

TEST_F(node_server, a_connection_that_has_ended_keeps_no_memory) {
  caf::weak_actor_ptr connection;
  rt.define_bidi_flow(
    "once", [&](context ctx, input<int>, output<int>) -> task<int> {
      connection
        = caf::weak_actor_ptr{detail::access::owner(ctx).self()->ctrl()};
      co_return 1;
    });
  const auto port = rt.publish();
  network_config cfg_of_client;
  caf::actor_system client{cfg_of_client};
  const remote_runtime here{client, "127.0.0.1", port};
  auto talk
    = here.action<nothing, int, int, int>("/bidi-flow/once").stream_bidi();
  talk.close();
  EXPECT_EQ(talk.output(patience), 1);
  EXPECT_TRUE(eventually([&] { return connection.lock() == nullptr; }));
}

TEST_F(node_server, a_client_killed_with_its_process_leaves_nothing_behind) {
  rt.define_bidi_flow("greet",
                      [this](context, std::string prefix, input<greeting> in,
                             output<greeting> out) -> task<int> {
                        try {
                          while (auto x = co_await in.next()) {
                            co_await out.send(prefix + x->word, x->warmth);
                            co_await out.end_turn();
                          }
                        } catch (const status_error& error) {
                          seen.set_value(error.code());
                          throw;
                        }
                        co_return 0;
                      });
  child_process client{"node_client", {publish()}};
  EXPECT_EQ(client.read_line(), "dear you");
  EXPECT_TRUE(has_connections(1));
  client.kill();
  expect_cancelled();
}

TEST_F(node_server,
       a_client_killed_while_the_body_waits_for_credit_is_noticed) {
  rt.define_bidi_flow(
    "countUp", [this](context, input<int> in, output<int> out) -> task<int> {
      const auto to = co_await in.next();
      try {
        while (offered < to) {
          ++offered;
          co_await out.send(offered);
        }
      } catch (const status_error& error) {
        seen.set_value(error.code());
        throw;
      }
      co_return 0;
    });
  child_process client{"deaf_client", {publish()}};
  EXPECT_EQ(client.read_line(), "asked");
  // The window of 16 chunks is used up, and the next chunk waits.
  ASSERT_TRUE(eventually([&] { return offered == 17; }));
  EXPECT_TRUE(has_connections(1));
  client.kill();
  expect_cancelled();
  EXPECT_EQ(offered, 17);
}

} // namespace tertulia::test::nodes_tests
