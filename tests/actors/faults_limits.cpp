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

TEST_F(faults_of_limits, opening_by_key_that_cannot_be_read) {
  define_orders(*rt);
  rt->define_bidi_flow("moody",
                       [](context, moody, int_input, int_output) -> task<int> {
                         co_return 0;
                       });
  struct {
    const char* key;
    json init;
    errc code;
    const char* message;
  } const rows[] = {
    {"/bidi-flow/none",
     {},
     errc::not_found,
     "there is no action /bidi-flow/none"},
    {"/bidi-flow/orders", json{{"article", 1}}, errc::invalid_argument,
     "$.article: expected a string, found 1"},
    {"/bidi-flow/moody", 1, errc::internal, "not today"},
  };
  for (const auto& x : rows) {
    const auto error = error_of(
      [&] { static_cast<void>(rt->stream_bidi(x.key, with_init(x.init))); });
    EXPECT_EQ(error.code(), x.code) << x.key;
    EXPECT_EQ(error.message(), x.message);
  }
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

TEST_F(faults_of_limits, codec_throws_while_reading_input) {
  auto flow = rt->define_bidi_flow(
    "moody", [this](context ctx, input<moody> in, int_output) -> task<int> {
      const witness here;
      host_ = caf::actor_cast<caf::actor>(detail::access::owner(ctx).self());
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
                                     [](turn_end) {}, [](completion&) {}};
  });
  connection_actor opened_one;
  const auto answer_of = [&](const auto& whom, open_request open_message) {
    auto result = errc::ok;
    caf::scoped_actor self{system};
    self
      ->request(caf::actor_cast<caf::actor>(whom), caf::duration{patience},
                std::move(open_message))
      .receive([&](open_result& x) { opened_one = std::move(x.connection); },
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

TEST_F(faults_of_nodes, output_that_has_no_json_to_a_remote_client) {
  auto talk = open<order, double>(with_init(order{"tea", -3}));
  talk.close();
  const auto error = faults::end_of(talk);
  EXPECT_EQ(error.code(), errc::invalid_argument);
  EXPECT_EQ(error.message(), "$: expected a finite number, found NaN");
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

} // namespace tertulia::test::faults_limits_tests
