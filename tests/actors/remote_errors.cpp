// SPDX-License-Identifier: BSD-3-Clause

// Errors of a body that fails, as received by a client on another node: they
// contain the text written by the author of the body, but not the text of an
// arbitrary exception.

#include <tertulia/ai/chat_agent.hpp>
#include <tertulia/remote_runtime.hpp>

#include <future>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "support/network_config.hpp"
#include "support/threaded.hpp"
#include <spdlog/logger.h>
#include <spdlog/sinks/ostream_sink.h>

namespace tertulia::test::remote_errors_tests {

namespace {

constexpr auto secret = "password=1234";

[[noreturn]] void blurt() {
  throw std::runtime_error{secret};
}

/// Type that can be neither read nor written, and whose errors reveal a secret.
struct leaky {};

/// Fixture whose client runs in another actor system, as if in another process.
struct remote_errors : ::testing::Test {
  static runtime_options logging_to(std::ostream& lines) {
    runtime_options result;
    result.log = std::make_shared<spdlog::logger>(
      "test", std::make_shared<spdlog::sinks::ostream_sink_mt>(lines));
    return result;
  }

  /// Defines the flow that all clients call.
  template <class Body>
  auto define(Body body) {
    return rt.define_bidi_flow("f", std::move(body));
  }

  /// Returns the flow as its clients on the other node see it.
  bidi_action<nothing, int, int, int> flow_there() {
    return far.action<nothing, int, int, int>("/bidi-flow/f");
  }

  status_error heard_there() {
    return error_of([&] {
      auto talk = flow_there().stream_bidi();
      (void)talk.output(patience);
    });
  }

  /// Spawns a client on the other node that is an actor.
  /// @param on_open what it does when its connection is open.
  /// @param on_end  what it does at the end of its connection.
  template <class Open, class End>
  chunk_sink spawn_there(Open on_open, End on_end) {
    return there.spawn(
      [=, this](chunk_sink::pointer self) -> chunk_sink::behavior_type {
        open_request message;
        message.key = "/bidi-flow/f";
        message.client = self;
        self->request(far.front_desk(), patience, std::move(message))
          .then([=](const open_result& x) { on_open(self, x.connection); });
        return {[](chunk_batch&) {}, [](input_credit) {}, [](turn_end) {},
                [=](completion&) { on_end(self); }};
      });
  }

  /// Checks that an error received on another node contains an id instead of
  /// the secret, and that the log has the secret under that id.
  void expect_id_of_secret(const status_error& received) {
    EXPECT_EQ(received.code(), errc::internal);
    EXPECT_EQ(received.message().find(secret), std::string::npos);
    const auto id
      = parse_json<json>(received.details()).at("error").get<std::string>();
    EXPECT_NE(received.message().find(id), std::string::npos);
    const auto all = lines.str();
    const auto line = all.find(id);
    ASSERT_NE(line, std::string::npos) << all;
    EXPECT_NE(all.find(secret, line), std::string::npos) << all;
  }

  std::ostringstream lines;
  network_config here_cfg;
  caf::actor_system here{here_cfg};
  network_config there_cfg;
  caf::actor_system there{there_cfg};
  runtime rt{here, logging_to(lines)};
  remote_runtime far{there, "127.0.0.1", rt.publish()};
};

} // namespace

} // namespace tertulia::test::remote_errors_tests

template <>
struct tertulia::json_codec<tertulia::test::remote_errors_tests::leaky> {
  static void write(std::string&, const test::remote_errors_tests::leaky&,
                    const json_path&) {
    test::remote_errors_tests::blurt();
  }

  static test::remote_errors_tests::leaky read(const json&, const json_path&) {
    test::remote_errors_tests::blurt();
  }

  static json schema() {
    return json::object();
  }
};

namespace tertulia::test::remote_errors_tests {

TEST_F(remote_errors, keep_the_text_of_an_exception_in_the_log) {
  define([](context, input<int>, output<int>) -> task<int> {
    blurt();
    co_return 0;
  });
  expect_id_of_secret(heard_there());
  EXPECT_EQ(error_of([&] {
              auto talk = rt.stream_bidi("/bidi-flow/f");
              (void)talk.output(patience);
            }).message(),
            secret);
}

TEST_F(remote_errors, keep_what_blocking_work_has_thrown) {
  define([](context ctx, input<int>, output<int>) -> task<int> {
    const auto work = [] { blurt(); };
    co_await ctx.run_blocking(work);
    co_return 0;
  });
  expect_id_of_secret(heard_there());
}

TEST_F(remote_errors, keep_what_a_flow_has_thrown_that_the_body_called) {
  const auto inner = rt.define_bidi_flow(
    "inner", [](context, input<int>, output<int>) -> task<int> {
      blurt();
      co_return 0;
    });
  define([inner](context ctx, input<int>, output<int>) -> task<int> {
    auto talk = co_await inner.open(ctx);
    co_return co_await talk.output();
  });
  expect_id_of_secret(heard_there());
}

TEST_F(remote_errors, keep_what_a_codec_of_an_output_has_thrown) {
  define([](context, input<int>, output<leaky> out) -> task<int> {
    co_await out.send();
    co_return 0;
  });
  expect_id_of_secret(heard_there());
}

TEST_F(remote_errors, keep_what_a_codec_of_an_init_has_thrown) {
  define(
    [](context, leaky, input<int>, output<int>) -> task<int> { co_return 0; });
  const auto f = far.action<int, int, int, int>("/bidi-flow/f");
  expect_id_of_secret(error_of([&] { (void)f.stream_bidi(with_init(1)); }));
}

TEST_F(remote_errors, keep_what_a_codec_of_an_input_has_thrown) {
  define([](context, input<leaky> in, output<int>) -> task<int> {
    co_await in.next();
    co_return 0;
  });
  auto talk = flow_there().stream_bidi();
  talk.send(1);
  expect_id_of_secret(error_of([&] { (void)talk.output(patience); }));
}

TEST_F(remote_errors, keep_it_from_an_input_that_comes_too_late) {
  const gate done; // the body outlives this test
  define([done](context ctx, input<int>, output<leaky> out) -> task<int> {
    co_await out.send();
    const auto work = [done] { done.wait(); };
    co_await ctx.run_blocking(work); // the frame stays alive
    co_return 0;
  });
  std::promise<status_error> answer;
  spawn_there(
    [&](auto self, const connection_actor& talk) {
      self->request(talk, patience, turn_input{payload::of(1), 0})
        .then(
          [&, self] {
            answer.set_value({errc::ok, ""});
            self->quit();
          },
          [&, self](const caf::error& y) {
            answer.set_value(to_status(y));
            self->quit();
          });
    },
    [](auto) {});
  expect_id_of_secret(answer.get_future().get());
  done.open();
}

TEST_F(remote_errors, keep_what_a_blocking_client_in_a_body_has_heard) {
  const auto inner = ai::define_chat_agent(
    rt, "inner",
    [](context, ai::chat_session<int>, input<ai::conversation_input>,
       ai::chat_responder<int>) -> task<> {
      blurt();
      co_return;
    });
  define([&](context ctx, input<int>, output<int>) -> task<int> {
    const auto work = [&] {
      auto talk = inner.stream_bidi();
      (void)talk.output(patience);
    };
    co_await ctx.run_blocking(work);
    co_return 0;
  });
  expect_id_of_secret(heard_there());
}

TEST_F(remote_errors, overtake_no_last_word) {
  define([](context, input<int>, output<int>) -> task<int> {
    throw status_error{errc::out_of_range, "too far"};
    co_return 0;
  });
  const auto f = flow_there();
  // The body, and its actor with it, ends at once: that is what can go wrong.
  std::vector<std::jthread> clients;
  for (auto i = 0; i < 8; ++i)
    clients.emplace_back([&] {
      for (auto n = 0; n < 50; ++n)
        EXPECT_EQ(error_of([&] {
                    auto talk = f.stream_bidi();
                    (void)talk.output(patience);
                  }).message(),
                  "too far");
    });
}

TEST_F(remote_errors, wait_for_a_client_that_still_reads_them) {
  define([](context, input<int>, output<int>) -> task<int> {
    throw status_error{errc::out_of_range, "too far"};
    co_return 0;
  });
  std::promise<status_error> answer;
  connection_actor talk;
  spawn_there([&](auto, const connection_actor& opened) { talk = opened; },
              [&](auto self) {
                // The connection receives this request before the client's
                // answer to its own last request, so it still exists.
                self->request(talk, patience, turn_input{payload::of(1), 0})
                  .then([] {},
                        [&, self](const caf::error& y) {
                          answer.set_value(to_status(y));
                          self->quit();
                        });
              });
  EXPECT_EQ(answer.get_future().get().message(), "too far");
}

TEST_F(remote_errors, end_the_frame_of_what_could_not_be_encoded) {
  define([](context, input<int> in, output<leaky> out) -> task<int> {
    const witness here;
    co_await out.send();
    co_await in.next();
    co_return 0;
  });
  gate received;
  const auto client
    = spawn_there([](auto, auto&) {}, [&](auto) { received.open(); });
  received.wait();
  EXPECT_TRUE(eventually([] { return witness::alive() == 0; }));
  caf::anon_send_exit(client, caf::exit_reason::user_shutdown);
}

TEST_F(remote_errors, pass_what_the_author_has_said) {
  define([](context, input<int>, output<int>) -> task<int> {
    throw status_error{errc::internal, "the oven is cold", R"({"oven":2})"};
    co_return 0;
  });
  const auto received = heard_there();
  EXPECT_EQ(received.code(), errc::internal);
  EXPECT_EQ(received.message(), "the oven is cold");
  EXPECT_EQ(received.details(), R"({"oven":2})");
  EXPECT_EQ(lines.str().find("oven"), std::string::npos);
}

} // namespace tertulia::test::remote_errors_tests
