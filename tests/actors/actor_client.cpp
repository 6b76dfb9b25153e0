// SPDX-License-Identifier: BSD-3-Clause

// The client of an action that is part of an actor.

#include <tertulia/actor_client.hpp>
#include <tertulia/remote_runtime.hpp>

#include <caf/io/middleman.hpp>
#include <caf/scoped_actor.hpp>

#include "support/actor_clients.hpp"
#include "support/network_config.hpp"
#include "support/refusal.hpp"

using namespace std::literals;

namespace tertulia::test::actor_client_tests {

using strings = std::vector<std::string>;

// -- a conversation -----------------------------------------------------------

TEST_F(actor_client_of, a_flow_gets_chunks_turns_and_the_output) {
  auto client = open_client(define_thrice());
  client->send("a"); // waits until the connection is open
  run();
  client->send("b");
  client->close();
  run();
  EXPECT_EQ(client.log->opened, 1);
  EXPECT_EQ(client.log->chunks, (strings{"a.", "a!", "a?", "b.", "b!", "b?"}));
  EXPECT_EQ(client.log->turns, 2);
  EXPECT_EQ(client.log->outputs, strings{"bye"});
  EXPECT_TRUE(client.log->errors.empty());
  EXPECT_EQ(extra_actors(), 0u);
}

TEST_F(actor_client_of, any_window_gets_the_same) {
  for (const auto window : {0u, 1u, 2u, 3u, 64u}) {
    auto client = open_client(define_thrice(), with_chunk_window{window},
                              with_input_window{window});
    client->send("a");
    run();
    client->send("b");
    client->close();
    run();
    EXPECT_EQ(client.log->chunks,
              (strings{"a.", "a!", "a?", "b.", "b!", "b?"}));
    EXPECT_EQ(client.log->turns, 2);
    EXPECT_EQ(client.log->outputs, strings{"bye"});
  }
}

TEST_F(actor_client_of, a_flow_is_called_for_each_credit) {
  auto client = spawn();
  run();
  int sent = 0;
  client->with_credit = [&](auto& self) {
    EXPECT_TRUE(self.has_credit());
    if (sent == 10)
      self.close();
    else
      self.send(std::to_string(sent++));
  };
  define_thrice().open(*client, with_input_window{4});
  run();
  EXPECT_EQ(client.log->turns, 10);
  EXPECT_EQ(client.log->outputs, strings{"bye"});
}

TEST_F(actor_client_of, a_flow_keeps_at_most_a_window_of_inputs) {
  auto client = open_client(define_sleeper(), with_input_window{2});
  client->send("sent");
  client->send("sent");
  run();
  client->send("waits");
  client->send("waits");
  EXPECT_EQ(error_text([&] { client->send("too many"); }),
            "resource_exhausted: 2 inputs wait for credit already");
  client->close();
  EXPECT_EQ(error_text([&] { client->send("late"); }),
            "failed_precondition: the input is closed");
  advance(1h);
  EXPECT_EQ(client.log->outputs.size(), 1u);
}

TEST_F(actor_client_of, a_flow_counts_the_inputs_that_were_not_read) {
  auto client = open_client(define_sleeper());
  client->send("arrives");
  run();
  client->send("waits");
  auto unread = std::uint64_t{0};
  client->at_end = [&](auto& self) { unread = self.unread_inputs(); };
  advance(1h);
  EXPECT_EQ(unread, 2u);
}

// -- ends ---------------------------------------------------------------------

TEST_F(actor_client_of, a_flow_hears_why_it_is_refused) {
  auto client = open_client(define_thrice(), with_session_id{"mine"});
  run();
  ASSERT_EQ(client.log->errors.size(), 1u);
  EXPECT_EQ(client.log->errors[0].code(), errc::invalid_argument);
  EXPECT_EQ(client.log->opened, 0);
  EXPECT_EQ(extra_actors(), 0u);
}

TEST_F(actor_client_of, a_flow_hears_why_it_has_failed) {
  auto client = open_client(define(
    [](context, input<std::string>, output<std::string>) -> task<std::string> {
      throw status_error{errc::out_of_range, "too far"};
      co_return "";
    }));
  run();
  ASSERT_EQ(client.log->errors.size(), 1u);
  EXPECT_EQ(client.log->errors[0].code(), errc::out_of_range);
  EXPECT_STREQ(client.log->errors[0].what(), "too far");
}

TEST_F(actor_client_of, a_flow_ends_with_it_by_default) {
  const auto end_of = [&](const text_flow& flow) {
    std::optional<caf::error> result;
    const auto client = system.spawn(
      [](caf::stateful_actor<silent_client>* self, const text_flow& to) {
        to.open(self->state);
        self->state.close();
        return caf::behavior{self->state.handlers()};
      },
      flow);
    const auto watcher = system.spawn([&](caf::event_based_actor* self) {
      self->set_down_handler([&](caf::down_msg& x) { result = x.reason; });
      self->monitor(client);
      return caf::behavior{[](caf::ok_atom) {}};
    });
    run();
    caf::anon_send_exit(watcher, caf::exit_reason::kill);
    run();
    return result;
  };
  EXPECT_EQ(end_of(define_thrice()), caf::error{});
  const text_flow failing = define(
    [](context, input<std::string>, output<std::string>) -> task<std::string> {
      throw status_error{errc::aborted, "not today"};
      co_return "";
    });
  const auto reason = to_status(end_of(failing).value());
  EXPECT_EQ(reason.code(), errc::aborted);
  EXPECT_EQ(reason.message(), "not today");
}

TEST_F(actor_client_of, a_killed_connection_hears_so_once) {
  auto client = open_client(define_thrice());
  client->send("a");
  run();
  kill(client.log->connection);
  ASSERT_EQ(client.log->errors.size(), 1u);
  EXPECT_EQ(client.log->errors[0].code(), errc::aborted);
  EXPECT_EQ(client.log->downs, 0); // the application does not monitor it
  EXPECT_EQ(extra_actors(), 0u);
}

TEST_F(actor_client_of, a_flow_can_cancel_at_any_time) {
  auto client = open_client(define_thrice());
  client->send("a");
  run();
  client->cancel();
  run();
  ASSERT_EQ(client.log->errors.size(), 1u);
  EXPECT_EQ(client.log->errors[0].code(), errc::cancelled);
  EXPECT_EQ(extra_actors(), 0u);
}

TEST_F(actor_client_of, a_flow_can_cancel_while_it_opens) {
  auto client = open_client(define_thrice());
  client->send("never sent");
  client->cancel();
  client->cancel();
  EXPECT_EQ(error_text([&] { client->send("late"); }),
            "cancelled: the connection was cancelled");
  run();
  ASSERT_EQ(client.log->errors.size(), 1u);
  EXPECT_EQ(client.log->errors[0].code(), errc::cancelled);
  EXPECT_TRUE(client.log->chunks.empty());
  EXPECT_EQ(extra_actors(), 0u);
}

TEST_F(actor_client_of, an_actor_that_ends_cancels_the_action) {
  auto left = 0;
  auto client
    = open_client(define([&left](context ctx, input<std::string>,
                                 output<std::string>) -> task<std::string> {
        const departure leaves{left};
        co_await ctx.sleep(1h);
        co_return "";
      }));
  run();
  kill(client.who);
  EXPECT_EQ(left, 1);
  EXPECT_EQ(extra_actors(), 0u);
}

TEST_F(actor_client_of, chunks_of_another_type_end_the_action) {
  using number_flow = bidi_flow<nothing, std::string, std::string, int>;
  const auto flow = define_thrice();
  client_of<number_flow> client{system};
  run();
  client->open(rt->front_desk(), flow.opening_for({}), nullptr);
  client->send("a");
  run();
  ASSERT_EQ(client.log->errors.size(), 1u);
  EXPECT_EQ(client.log->errors[0].code(), errc::invalid_argument);
  EXPECT_TRUE(client.log->chunks.empty());
  EXPECT_EQ(extra_actors(), 0u);
}

// -- one after another --------------------------------------------------------

TEST_F(actor_client_of, flows_has_one_connection_after_another) {
  const auto flow = define_thrice();
  auto client = spawn();
  run();
  EXPECT_FALSE(client->is_open());
  EXPECT_EQ(error_text([&] { client->send("a"); }),
            "failed_precondition: the client has no connection");
  auto left = 3;
  client->at_end = [&](auto& self) {
    EXPECT_FALSE(self.is_open());
    if (--left == 0)
      return self.self()->quit();
    flow.open(self);
    self.send(std::to_string(left));
    self.close();
  };
  flow.open(*client);
  EXPECT_EQ(error_text([&] { flow.open(*client); }),
            "failed_precondition: the client has a connection already");
  client->close();
  run();
  EXPECT_EQ(client.log->chunks, (strings{"2.", "2!", "2?", "1.", "1!", "1?"}));
  EXPECT_EQ(client.log->outputs.size(), 3u);
  EXPECT_EQ(extra_actors(), 0u);
}

TEST_F(actor_client_of, a_flow_cancels_what_opens_too_late) {
  const auto flow = define_thrice();
  // Passes a request on when it is told to.
  const auto slow_desk = system.spawn(
    [desk = rt->front_desk()](caf::event_based_actor* self) -> caf::behavior {
      auto held = std::make_shared<open_request>();
      auto answer
        = std::make_shared<caf::typed_response_promise<open_result>>();
      return {
        [=](open_request& x) -> caf::result<open_result> {
          *held = std::move(x);
          *answer = self->make_response_promise<open_result>();
          return *answer;
        },
        [=](caf::flush_atom) {
          self->request(desk, caf::infinite, std::move(*held))
            .then([=](open_result& x) { answer->deliver(std::move(x)); });
          self->quit();
        },
      };
    });
  auto client = spawn();
  run();
  client->at_end = [](auto&) {};
  client->open(caf::actor_cast<front_desk_actor>(slow_desk),
               flow.opening_for({}, with_open_timeout(10s)), nullptr);
  client->send("a");
  advance(11s);
  ASSERT_EQ(client.log->errors.size(), 1u);
  EXPECT_EQ(client.log->errors[0].code(), errc::deadline_exceeded);

  flow.open(*client);
  client->send("b");
  run();
  caf::anon_send(slow_desk, caf::flush_atom_v);
  run();
  EXPECT_EQ(client.log->chunks, (strings{"b.", "b!", "b?"}));
  client->close();
  run();
  EXPECT_EQ(client.log->outputs, strings{"bye"});
  EXPECT_EQ(client.log->errors.size(), 1u);
  kill(client.who);
  EXPECT_EQ(extra_actors(), 0u);
}

// -- another node -------------------------------------------------------------

namespace {

/// An action of another actor system, as if in another process.
struct remote_actor_client : ::testing::Test {
  /// Serves the action while a function runs.
  template <class Fn>
  void serve(Fn use) {
    network_config cfg;
    caf::actor_system here{cfg};
    runtime rt{here};
    rt.define_bidi_flow("echo",
                        [](context, input<std::string> in,
                           output<std::string> out) -> task<std::string> {
                          while (auto text = co_await in.next())
                            co_await out.send(*text);
                          co_return "bye";
                        });
    port = rt.publish(port);
    use();
  }

  /// Talks to the action and returns when the client has ended.
  record<text_flow> talk(const std::string& word) {
    auto log = std::make_shared<record<text_flow>>();
    const auto client
      = system.spawn([&, log](caf::stateful_actor<recorder<text_flow>>* self) {
          auto handlers = record_all<text_flow>(self, log);
          flow->open(self->state);
          self->state.send(word);
          self->state.close();
          return handlers;
        });
    caf::scoped_actor self{system};
    self->wait_for(client);
    return *log;
  }

  std::uint16_t port = 0;
  network_config cfg;
  caf::actor_system system{cfg};
  std::optional<text_flow> flow;
};

} // namespace

TEST_F(remote_actor_client, of_a_lost_node_reconnects) {
  serve([&] {
    flow = remote_runtime{system,
                          {{"127.0.0.1", port}},
                          reconnect_policy{.patience = 100ms}}
             .action<nothing, std::string, std::string, std::string>(
               "/bidi-flow/echo");
    const auto log = talk("hello");
    EXPECT_EQ(log.chunks, strings{"hello"});
    EXPECT_EQ(log.outputs, strings{"bye"});
  });

  const auto lost = talk("nobody hears this");
  EXPECT_TRUE(lost.chunks.empty());
  ASSERT_EQ(lost.errors.size(), 1u);
  EXPECT_EQ(lost.errors[0].code(), errc::unavailable);

  serve([&] { EXPECT_EQ(talk("again").chunks, strings{"again"}); });
}

} // namespace tertulia::test::actor_client_tests
