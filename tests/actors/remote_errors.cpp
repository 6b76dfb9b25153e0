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

  status_error heard_there(const std::string& name) {
    const remote_runtime far{there, "127.0.0.1", port};
    return error_of([&] {
      auto talk = far.action<nothing, int, int, int>("/bidi-flow/" + name)
                    .stream_bidi();
      (void)talk.output(patience);
    });
  }

  status_error heard_here(const std::string& name) {
    return error_of([&] {
      auto talk = rt.stream_bidi("/bidi-flow/" + name);
      (void)talk.output(patience);
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
  std::uint16_t port = rt.publish();
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
  rt.define_bidi_flow("f", [](context, input<int>, output<int>) -> task<int> {
    blurt();
    co_return 0;
  });
  expect_id_of_secret(heard_there("f"));
  EXPECT_EQ(heard_here("f").message(), secret);
}

TEST_F(remote_errors, keep_what_blocking_work_has_thrown) {
  rt.define_bidi_flow("f",
                      [](context ctx, input<int>, output<int>) -> task<int> {
                        const auto work = [] { blurt(); };
                        co_await ctx.run_blocking(work);
                        co_return 0;
                      });
  expect_id_of_secret(heard_there("f"));
}

TEST_F(remote_errors, keep_what_a_flow_has_thrown_that_the_body_called) {
  const auto inner = rt.define_bidi_flow(
    "inner", [](context, input<int>, output<int>) -> task<int> {
      blurt();
      co_return 0;
    });
  rt.define_bidi_flow(
    "f", [inner](context ctx, input<int>, output<int>) -> task<int> {
      auto talk = co_await inner.open(ctx);
      co_return co_await talk.output();
    });
  expect_id_of_secret(heard_there("f"));
}

TEST_F(remote_errors, keep_what_a_codec_of_an_output_has_thrown) {
  rt.define_bidi_flow("f",
                      [](context, input<int>, output<leaky> out) -> task<int> {
                        co_await out.send();
                        co_return 0;
                      });
  expect_id_of_secret(heard_there("f"));
}

TEST_F(remote_errors, keep_what_a_codec_of_an_init_has_thrown) {
  rt.define_bidi_flow("f",
                      [](context, leaky, input<int>, output<int>) -> task<int> {
                        co_return 0;
                      });
  const remote_runtime far{there, "127.0.0.1", port};
  const auto f = far.action<int, int, int, int>("/bidi-flow/f");
  expect_id_of_secret(error_of([&] { (void)f.stream_bidi(with_init(1)); }));
}

TEST_F(remote_errors, keep_what_a_codec_of_an_input_has_thrown) {
  rt.define_bidi_flow("f",
                      [](context, input<leaky> in, output<int>) -> task<int> {
                        co_await in.next();
                        co_return 0;
                      });
  const remote_runtime far{there, "127.0.0.1", port};
  auto talk = far.action<nothing, int, int, int>("/bidi-flow/f").stream_bidi();
  talk.send(1);
  expect_id_of_secret(error_of([&] { (void)talk.output(patience); }));
}

TEST_F(remote_errors, keep_it_from_an_input_that_comes_too_late) {
  const gate done; // the body outlives this test
  rt.define_bidi_flow(
    "f", [done](context ctx, input<int>, output<leaky> out) -> task<int> {
      co_await out.send();
      const auto work = [done] { done.wait(); };
      co_await ctx.run_blocking(work); // the frame stays alive
      co_return 0;
    });
  const remote_runtime far{there, "127.0.0.1", port};
  std::promise<status_error> answer;
  there.spawn([&](chunk_sink::pointer self) -> chunk_sink::behavior_type {
    open_request open_message;
    open_message.key = "/bidi-flow/f";
    open_message.client = self;
    self->request(far.front_desk(), patience, std::move(open_message))
      .then([&, self](const open_result& x) {
        self->request(x.connection, patience, turn_input{payload::of(1), 0})
          .then(
            [&, self] {
              answer.set_value({errc::ok, ""});
              self->quit();
            },
            [&, self](const caf::error& y) {
              answer.set_value(to_status(y));
              self->quit();
            });
      });
    return {[](chunk_batch&) {}, [](input_credit) {}, [](turn_end) {},
            [](completion&) {}};
  });
  expect_id_of_secret(answer.get_future().get());
  done.open();
}

TEST_F(remote_errors, keep_what_a_blocking_client_in_a_body_has_heard) {
  const auto inner = ai::define_chat_agent(rt, "inner",
                                           [](context, ai::chat_session<int>,
                                              input<ai::conversation_input>,
                                              ai::responder<int>) -> task<> {
                                             blurt();
                                             co_return;
                                           });
  rt.define_bidi_flow("f",
                      [&](context ctx, input<int>, output<int>) -> task<int> {
                        const auto work = [&] {
                          auto talk = inner.stream_bidi();
                          (void)talk.output(patience);
                        };
                        co_await ctx.run_blocking(work);
                        co_return 0;
                      });
  expect_id_of_secret(heard_there("f"));
}

TEST_F(remote_errors, overtake_no_last_word) {
  rt.define_bidi_flow("f", [](context, input<int>, output<int>) -> task<int> {
    throw status_error{errc::out_of_range, "too far"};
    co_return 0;
  });
  const remote_runtime far{there, "127.0.0.1", port};
  const auto f = far.action<nothing, int, int, int>("/bidi-flow/f");
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
  rt.define_bidi_flow("f", [](context, input<int>, output<int>) -> task<int> {
    throw status_error{errc::out_of_range, "too far"};
    co_return 0;
  });
  const remote_runtime far{there, "127.0.0.1", port};
  std::promise<status_error> answer;
  there.spawn([&](chunk_sink::pointer self) -> chunk_sink::behavior_type {
    open_request open_message;
    open_message.key = "/bidi-flow/f";
    open_message.client = self;
    auto talk = std::make_shared<connection_actor>();
    self->request(far.front_desk(), patience, std::move(open_message))
      .then([=](const open_result& x) { *talk = x.connection; });
    return {[](chunk_batch&) {}, [](input_credit) {}, [](turn_end) {},
            [&, self, talk](completion&) {
              // The connection receives this request before the client's answer
              // to its own last request, so it still exists.
              self->request(*talk, patience, turn_input{payload::of(1), 0})
                .then([] {},
                      [&, self](const caf::error& y) {
                        answer.set_value(to_status(y));
                        self->quit();
                      });
            }};
  });
  EXPECT_EQ(answer.get_future().get().message(), "too far");
}

TEST_F(remote_errors, end_the_frame_of_what_could_not_be_encoded) {
  rt.define_bidi_flow(
    "f", [](context, input<int> in, output<leaky> out) -> task<int> {
      const witness here;
      co_await out.send();
      co_await in.next();
      co_return 0;
    });
  const remote_runtime far{there, "127.0.0.1", port};
  gate received;
  const auto client
    = there.spawn([&](chunk_sink::pointer self) -> chunk_sink::behavior_type {
        open_request open_message;
        open_message.key = "/bidi-flow/f";
        open_message.client = self;
        self->request(far.front_desk(), patience, std::move(open_message))
          .then([](const open_result&) {});
        return {[](chunk_batch&) {}, [](input_credit) {}, [](turn_end) {},
                [&](completion&) { received.open(); }};
      });
  received.wait();
  EXPECT_TRUE(eventually([] { return witness::alive() == 0; }));
  caf::anon_send_exit(client, caf::exit_reason::user_shutdown);
}

TEST_F(remote_errors, pass_what_the_author_has_said) {
  rt.define_bidi_flow("f", [](context, input<int>, output<int>) -> task<int> {
    throw status_error{errc::internal, "the oven is cold", R"({"oven":2})"};
    co_return 0;
  });
  const auto received = heard_there("f");
  EXPECT_EQ(received.code(), errc::internal);
  EXPECT_EQ(received.message(), "the oven is cold");
  EXPECT_EQ(received.details(), R"({"oven":2})");
  EXPECT_EQ(lines.str().find("oven"), std::string::npos);
}

} // namespace tertulia::test::remote_errors_tests
