// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/remote_runtime.hpp>

#include <cmath>
#include <limits>
#include <optional>
#include <stdexcept>

#include "support/faults.hpp"
#include "support/network_config.hpp"

using namespace std::literals;

namespace tertulia::test::faults_limits_tests {

namespace {

using int_input = input<int>;
using int_output = output<int>;

constexpr auto nan = std::numeric_limits<double>::quiet_NaN();

struct order {
  std::string article;
  int pieces = 0;
};
BOOST_DESCRIBE_STRUCT(order, (), (article, pieces))

/// Type that can be neither read nor written: its codec throws a foreign
/// exception.
struct moody {};

/// Messages that an actor client receives, for a test that waits for them.
struct hearing {
  std::promise<opened> open;
  std::promise<finished> end;
};

chunk_sink::behavior_type listen(chunk_sink::pointer self,
                                 const front_desk_actor& desk, open what,
                                 const std::shared_ptr<hearing>& heard) {
  what.client = self;
  self->request(desk, caf::duration{patience}, std::move(what))
    .then([=](const opened& x) { heard->open.set_value(x); });
  return {
    [](chunk_batch&) {},
    [](input_credit) {},
    [](turn_end) {},
    [=](finished& x) {
      heard->end.set_value(std::move(x)); // throws on a second call
      self->quit();
    },
  };
}

/// Defines a flow that adds up the ordered pieces, starting with the first
/// order, and returns NaN for a negative sum.
auto define_orders(runtime& rt) {
  return rt.define_bidi_flow("orders",
                             [](context, std::optional<order> first,
                                input<order> in,
                                output<double> out) -> task<double> {
                               const witness here;
                               double sum = first ? first->pieces : 0;
                               while (auto x = co_await in.next()) {
                                 sum += x->pieces;
                                 co_await out.send(sum < 0 ? nan : sum);
                               }
                               co_return sum < 0 ? nan : sum;
                             });
}

using faults_of_limits = faults;

/// Client in another actor system, as if in another process.
struct faults_of_nodes : ::testing::Test {
  /// @tparam In, Stream types that the client assumes for the flow.
  template <class In, class Stream, class... Options>
  auto open(const Options&... options) {
    return remote_runtime{there, "127.0.0.1", port}
      .action<std::optional<order>, In, double, Stream>("/bidi-flow/orders")
      .stream_bidi(options...);
  }

  network_config here_cfg;
  caf::actor_system here{here_cfg};
  network_config there_cfg;
  caf::actor_system there{there_cfg};
  runtime rt{here};
  bidi_flow<std::optional<order>, order, double, double> flow
    = define_orders(rt);
  std::uint16_t port = rt.publish();
};

} // namespace

} // namespace tertulia::test::faults_limits_tests

template <>
struct tertulia::json_codec<tertulia::test::faults_limits_tests::moody> {
  static void write(std::string&, const test::faults_limits_tests::moody&,
                    const json_path&) {
    throw std::runtime_error{"not today"};
  }

  static test::faults_limits_tests::moody read(const json&, const json_path&) {
    throw std::runtime_error{"not today"};
  }

  static json schema() {
    return json::object();
  }
};

namespace tertulia::test::faults_limits_tests {

// -- shapes -------------------------------------------------------------------

TEST_F(faults_of_limits, json_input_of_the_wrong_shape) {
  auto flow = define_orders(*rt);
  auto talk = rt->stream_bidi("/bidi-flow/orders");
  const auto error = error_of(
    [&] { talk.send(json::parse(R"({"article":"tea","pieces":"two"})")); });
  EXPECT_EQ(error.code(), errc::invalid_argument);
  EXPECT_EQ(error.message(), "$.pieces: expected an integer, found a string");
  talk.send(json::parse(R"({"article":"tea","pieces":2})"));
  talk.close();
  EXPECT_EQ(read_turn(talk), std::vector<json>{2});
  EXPECT_EQ(talk.output(patience), json(2)) << "the conversation goes on";
  EXPECT_TRUE(nothing_is_left());
}

TEST_F(faults_of_limits, raw_input_of_the_wrong_shape) {
  auto talk = define([this](context, int_input in, int_output) -> task<> {
                reach();
                co_await in.next();
              }).stream_bidi();
  ASSERT_TRUE(reached());
  caf::anon_send(host_, turn_input{payload::encoded(R"({"a":1})")});
  expect_end(talk, errc::invalid_argument,
             "$: expected an integer, found an object");
}

TEST_F(faults_of_limits, raw_input_that_is_no_json) {
  auto talk = define([this](context, int_input in, int_output) -> task<> {
                reach();
                co_await in.next();
              }).stream_bidi();
  ASSERT_TRUE(reached());
  caf::anon_send(host_, turn_input{payload::encoded("{")});
  const auto error = end_of(talk);
  EXPECT_EQ(error.code(), errc::invalid_argument);
  EXPECT_TRUE(nothing_is_left());
}

TEST_F(faults_of_limits, raw_input_without_a_value) {
  auto talk = define([this](context, int_input in, int_output) -> task<> {
                reach();
                co_await in.next();
              }).stream_bidi();
  ASSERT_TRUE(reached());
  caf::anon_send(host_, turn_input{});
  expect_end(talk, errc::invalid_argument, "$: expected a value, found none");
}

TEST_F(faults_of_limits, init_of_the_wrong_shape) {
  auto flow = define_orders(*rt);
  const auto error = error_of([&] {
    static_cast<void>(rt->stream_bidi(
      "/bidi-flow/orders", with_init(json::parse(R"({"article":1})"))));
  });
  EXPECT_EQ(error.code(), errc::invalid_argument);
  EXPECT_EQ(error.message(), "$.article: expected a string, found 1");
  EXPECT_TRUE(nothing_is_left());
}

TEST_F(faults_of_limits, unknown_action) {
  const auto error
    = error_of([&] { static_cast<void>(rt->stream_bidi("/bidi-flow/none")); });
  EXPECT_EQ(error.code(), errc::not_found);
  EXPECT_EQ(error.message(), "there is no action /bidi-flow/none");
  EXPECT_TRUE(nothing_is_left());
}

TEST_F(faults_of_limits, chunk_that_has_no_json_to_a_json_client) {
  auto flow = define_orders(*rt);
  auto talk = rt->stream_bidi("/bidi-flow/orders");
  talk.send(json::parse(R"({"pieces":-1})"));
  expect_end(talk, errc::invalid_argument,
             "$[0]: expected a finite number, found NaN");
}

TEST_F(faults_of_limits, output_that_has_no_json_to_a_json_client) {
  auto flow = define_orders(*rt);
  auto talk = rt->stream_bidi("/bidi-flow/orders",
                              with_init(json::parse(R"({"pieces":-1})")));
  talk.close();
  const auto error = error_of([&] { talk.output(patience); });
  EXPECT_EQ(error.code(), errc::invalid_argument);
  expect_end(talk, errc::invalid_argument,
             "$: expected a finite number, found NaN");
}

TEST_F(faults_of_limits, codec_throws_while_reading_init) {
  auto flow = rt->define_bidi_flow(
    "moody",
    [](context, moody, int_input, int_output) -> task<int> { co_return 0; });
  const auto error = error_of([&] {
    static_cast<void>(rt->stream_bidi("/bidi-flow/moody", with_init(json(1))));
  });
  EXPECT_EQ(error.code(), errc::internal);
  EXPECT_EQ(error.message(), "not today");
  EXPECT_TRUE(nothing_is_left());
}

TEST_F(faults_of_limits, codec_throws_while_reading_input) {
  auto flow = rt->define_bidi_flow(
    "moody", [this](context ctx, input<moody> in, int_output) -> task<int> {
      const witness here;
      host_ = caf::actor_cast<caf::actor>(ctx.owner().self());
      reach();
      co_await in.next();
      co_return 0;
    });
  auto talk = rt->stream_bidi("/bidi-flow/moody");
  ASSERT_TRUE(reached());
  caf::anon_send(host_, turn_input{payload::encoded("1")});
  expect_end(talk, errc::internal, "not today");
}

TEST_F(faults_of_limits, codec_throws_while_writing_chunk) {
  auto flow = rt->define_bidi_flow(
    "moody", [](context, int_input in, output<moody> out) -> task<int> {
      const witness here;
      co_await out.send();
      co_await in.next();
      co_return 0;
    });
  auto talk = rt->stream_bidi("/bidi-flow/moody");
  expect_end(talk, errc::internal, "not today");
}

TEST_F(faults_of_limits, chunk_without_json_to_a_typed_client) {
  auto talk = define_orders(*rt).stream_bidi();
  talk.send("tea", -1);
  talk.close();
  for (auto chunk : talk.responses(patience))
    EXPECT_NE(chunk, chunk) << "no JSON is needed inside a process";
  EXPECT_TRUE(std::isnan(talk.output(patience)));
}

// -- invalid open requests ----------------------------------------------------

TEST_F(faults_of_limits, an_opening_that_makes_no_sense_is_refused) {
  const auto echo = define_echo();
  const chunk_sink client = system.spawn<caf::hidden>([](chunk_sink::pointer) {
    return chunk_sink::behavior_type{[](chunk_batch&) {}, [](input_credit) {},
                                     [](turn_end) {}, [](finished&) {}};
  });
  connection_actor opened_one;
  const auto answer_of = [&](const auto& whom, open what) {
    auto result = errc::ok;
    caf::scoped_actor self{system};
    self
      ->request(caf::actor_cast<caf::actor>(whom), caf::duration{patience},
                std::move(what))
      .receive([&](opened& x) { opened_one = std::move(x.connection); },
               [&](const caf::error& x) { result = code_of(x); });
    return result;
  };
  const auto desk = rt->front_desk();
  EXPECT_EQ(answer_of(desk, echo.opening_for(chunk_sink{})),
            errc::invalid_argument)
    << "nobody would hear it";
  auto late = echo.opening_for(client);
  late.options.deadline = -1s;
  EXPECT_EQ(answer_of(desk, late), errc::invalid_argument);
  auto in_session = echo.opening_for(client);
  in_session.options.session = session_id{"mine"};
  EXPECT_EQ(answer_of(desk, in_session), errc::invalid_argument)
    << "a flow has none";
  auto restored = echo.opening_for(client);
  restored.options.snapshot = snapshot_id{"mine"};
  EXPECT_EQ(answer_of(desk, restored), errc::invalid_argument);

  EXPECT_EQ(answer_of(desk, echo.opening_for(client)), errc::ok);
  const auto first = opened_one;
  EXPECT_EQ(answer_of(first, echo.opening_for(client)),
            errc::failed_precondition)
    << "it is open";
  caf::anon_send(first, caf::close_atom_v);
  EXPECT_TRUE(nothing_is_left());
  caf::anon_send_exit(client, caf::exit_reason::user_shutdown);
}

// -- another process ----------------------------------------------------------

TEST_F(faults_of_nodes, are_asked_for_a_sign_of_life) {
  const auto set = [&](caf::string_view name) {
    return caf::get_or(here.config(), name, caf::timespan{0});
  };
  EXPECT_EQ(set("middleman.heartbeat-interval"), 5s);
  EXPECT_EQ(set("middleman.connection-timeout"), 20s);
}

TEST_F(faults_of_nodes, chunk_that_has_no_json_to_a_remote_client) {
  auto talk = open<order, double>();
  talk.send("tea", 2);
  EXPECT_EQ(*talk.responses(patience).begin(), 2.0);
  talk.send("tea", -3);
  const auto error = faults::end_of(talk);
  EXPECT_EQ(error.code(), errc::invalid_argument);
  EXPECT_EQ(error.message(), "$[0]: expected a finite number, found NaN");
  EXPECT_TRUE(eventually([] { return witness::alive() == 0; }));
}

TEST_F(faults_of_nodes, output_that_has_no_json_to_a_remote_client) {
  auto talk = open<order, double>(with_init(order{"tea", -3}));
  talk.close();
  const auto error = faults::end_of(talk);
  EXPECT_EQ(error.code(), errc::invalid_argument);
  EXPECT_EQ(error.message(), "$: expected a finite number, found NaN");
}

TEST_F(faults_of_nodes, input_that_has_no_json_to_a_remote_flow) {
  auto talk = open<double, double>();
  const auto error = error_of([&] { talk.send(nan); });
  EXPECT_EQ(error.code(), errc::invalid_argument);
  EXPECT_EQ(error.message(), "$: expected a finite number, found NaN");
  talk.close();
  EXPECT_EQ(talk.output(patience), 0) << "the conversation goes on";
}

TEST_F(faults_of_nodes, input_of_the_wrong_shape_to_a_remote_flow) {
  auto talk = open<std::string, double>();
  talk.send("tea");
  const auto error = faults::end_of(talk);
  EXPECT_EQ(error.code(), errc::invalid_argument);
  EXPECT_EQ(error.message(), "$: expected an object, found a string");
}

TEST_F(faults_of_nodes, chunk_of_the_wrong_shape_from_a_remote_flow) {
  auto talk = open<order, std::string>();
  talk.send("tea", 1);
  const auto error = faults::end_of(talk);
  EXPECT_EQ(error.code(), errc::invalid_argument);
  EXPECT_EQ(error.message(), "$[0]: expected a string, found 1");
  EXPECT_TRUE(eventually([] { return witness::alive() == 0; }));
}

// -- limits -------------------------------------------------------------------

TEST_F(faults_of_limits, consumer_never_reads) {
  std::atomic<int> produced = 0;
  auto echo = define_echo();
  {
    auto talk = define([&](context, int_input, int_output out) -> task<> {
                  for (;;) {
                    co_await out.send(1);
                    ++produced;
                  }
                }).stream_bidi();
    EXPECT_TRUE(eventually([&] { return produced == 64; }));
    auto other = echo.stream_bidi();
    for (int i = 0; i < 100; ++i) {
      other.send("others go on");
      ASSERT_EQ(*other.responses(patience).begin(), "echo: others go on");
    }
    EXPECT_EQ(produced, 64) << "one window and no more";
  }
  EXPECT_TRUE(nothing_is_left());
  EXPECT_EQ(seen(), errc::cancelled);
}

TEST_F(faults_of_limits, producer_never_stops) {
  auto talk = define([](context, int_input, int_output out) -> task<> {
                for (int i = 0;; ++i)
                  co_await out.send(i);
              }).stream_bidi();
  int expected = 0;
  for (auto x : talk.responses(patience)) {
    ASSERT_EQ(x, expected++);
    if (expected == 10'000)
      break;
  }
  talk.cancel();
  expect_end(talk, errc::cancelled, "the client cancelled");
  EXPECT_EQ(seen(), errc::cancelled);
}

TEST_F(faults_of_limits, actor_client_overruns_its_credit) {
  const auto heard = std::make_shared<hearing>();
  auto flow = define([](context ctx, int_input, int_output) -> task<> {
    co_await ctx.sleep(1h);
  });
  system.spawn<caf::hidden>(
    listen, rt->front_desk(),
    flow.opening_for(chunk_sink{}, with_input_window(2)), heard);
  {
    const auto open = heard->open.get_future().get();
    EXPECT_EQ(open.input_credit, 2u);
    for (int i = 0; i < 3; ++i)
      caf::anon_send(open.connection, turn_input{payload::of(i)});
  }
  const auto end = heard->end.get_future().get();
  EXPECT_EQ(code_of(end.reason), errc::resource_exhausted);
  EXPECT_EQ(end.inputs, 0u);
  EXPECT_TRUE(nothing_is_left());
  EXPECT_EQ(seen(), errc::resource_exhausted);
}

TEST_F(faults_of_limits, too_many_connections) {
  restart({.max_connections = 2});
  auto flow = define_echo();
  auto first = flow.stream_bidi();
  auto second = flow.stream_bidi();
  const auto error = error_of([&] { static_cast<void>(flow.stream_bidi()); });
  EXPECT_EQ(error.code(), errc::resource_exhausted);
  first.close();
  EXPECT_EQ(first.output(patience), "processed 0 messages");
  EXPECT_TRUE(eventually(
    [&] { return code_from([&] { first = flow.stream_bidi(); }) == errc::ok; }))
    << "there is room again";
  first.cancel();
  second.cancel();
  EXPECT_TRUE(nothing_is_left());
}

TEST_F(faults_of_limits, too_many_blocking_jobs) {
  restart({.blocking_threads = 1, .max_blocking_queue = 1});
  gate begun;
  gate open;
  std::atomic<int> ran = 0;
  auto blocked = define([&](context ctx, int_input, int_output) -> task<> {
                   co_await ctx.run_blocking([&] {
                     begun.open();
                     open.wait();
                   });
                 }).stream_bidi();
  begun.wait();
  auto greedy
    = rt->new_bidi_action("greedy",
                          [&](context ctx, int_input, int_output) -> task<int> {
                            const witness here;
                            co_await when_all(ctx.run_blocking([&] { ++ran; }),
                                              ctx.run_blocking([&] { ++ran; }));
                            co_return 0;
                          })
        .stream_bidi();
  const auto error = end_of(greedy);
  EXPECT_EQ(error.code(), errc::resource_exhausted);
  EXPECT_EQ(error.message(), "too many blocking calls wait for a thread");
  open.open();
  EXPECT_EQ(blocked.output(patience), 7);
  EXPECT_EQ(ran, 0) << "the other one was taken back";
  EXPECT_TRUE(nothing_is_left());
}

TEST_F(faults_of_limits, refused_blocking_jobs_take_no_place) {
  restart({.blocking_threads = 1, .max_blocking_queue = 1});
  gate begun;
  gate open;
  auto blocked = define([&](context ctx, int_input, int_output) -> task<> {
                   co_await ctx.run_blocking([&] {
                     begun.open();
                     open.wait();
                   });
                 }).stream_bidi();
  begun.wait();
  for (auto i = 0; i < 5; ++i) {
    auto greedy = rt->new_bidi_action(
                      "greedy",
                      [](context ctx, int_input, int_output) -> task<int> {
                        co_await when_all(ctx.run_blocking([] {}),
                                          ctx.run_blocking([] {}));
                        co_return 0;
                      })
                    .stream_bidi();
    EXPECT_EQ(end_of(greedy).code(), errc::resource_exhausted);
  }
  open.open();
  EXPECT_EQ(blocked.output(patience), 7);
  auto modest
    = rt->new_bidi_action("modest",
                          [](context ctx, int_input, int_output) -> task<int> {
                            co_await ctx.run_blocking([] {});
                            co_return 1;
                          })
        .stream_bidi();
  EXPECT_EQ(modest.output(patience), 1);
}

TEST_F(faults_of_limits, blocking_job_throws) {
  auto talk = define([](context ctx, int_input, int_output) -> task<> {
                co_await ctx.run_blocking([]() -> int {
                  throw status_error{errc::unavailable, "disk is gone"};
                });
              }).stream_bidi();
  expect_end(talk, errc::unavailable, "disk is gone");
}

TEST_F(faults_of_limits, asked_actor_is_dead) {
  caf::actor dead = system.spawn<caf::hidden>([](caf::event_based_actor*) {});
  auto talk = define([dead](context ctx, int_input, int_output) -> task<> {
                co_await ctx.ask<int>(dead, patience, 1);
              }).stream_bidi();
  const auto error = end_of(talk);
  EXPECT_EQ(error.code(), errc::unavailable);
  EXPECT_TRUE(nothing_is_left());
}

TEST_F(faults_of_limits, asked_actor_is_late) {
  caf::actor silent = system.spawn<caf::hidden>(
    [](caf::event_based_actor* self) -> caf::behavior {
      self->set_default_handler(caf::skip);
      return {[](caf::get_atom) {}};
    });
  auto talk = define([silent](context ctx, int_input, int_output) -> task<> {
                co_await ctx.ask<int>(silent, 1ms, 1);
              }).stream_bidi();
  const auto error = end_of(talk);
  EXPECT_EQ(error.code(), errc::deadline_exceeded);
  EXPECT_TRUE(nothing_is_left());
}

} // namespace tertulia::test::faults_limits_tests
