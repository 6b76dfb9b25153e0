// SPDX-License-Identifier: BSD-3-Clause

#include <sstream>
#include <stdexcept>

#include "support/deterministic.hpp"
#include "support/recording_client.hpp"
#include <spdlog/logger.h>
#include <spdlog/sinks/ostream_sink.h>

namespace tertulia::test::log_tests {

namespace {

struct log : deterministic {
  log() {
    auto sink = std::make_shared<spdlog::sinks::ostream_sink_st>(lines);
    auto logger = std::make_shared<spdlog::logger>("test", std::move(sink));
    logger->set_pattern("%l %v");
    logger->set_level(spdlog::level::debug);
    stop_runtime();
    runtime_options options;
    options.log = std::move(logger);
    rt.emplace(system, std::move(options));
    run();
  }

  auto define_angry() {
    return rt->define_bidi_flow("angry",
                                [](context, input<std::string> in,
                                   output<std::string>) -> task<int> {
                                  const auto secret = co_await in.next();
                                  throw std::runtime_error{*secret};
                                });
  }

  std::ostringstream lines;
};

} // namespace

TEST_F(log, a_fault_is_logged_without_what_was_said) {
  recording_client client{system, rt->front_desk(), define_angry()};
  client.send("my password");
  EXPECT_EQ(client.code(), errc::internal);
  EXPECT_EQ(lines.str(), "debug /bidi-flow/angry opened\n"
                         "warning /bidi-flow/angry failed: internal\n");
}

TEST_F(log, lost_data_is_a_fault) {
  const auto flow = rt->define_bidi_flow(
    "loss", [](context, input<int>, output<int>) -> task<int> {
      throw status_error{errc::data_loss, "a secret"};
      co_return 0;
    });
  recording_client client{system, rt->front_desk(), flow};
  EXPECT_EQ(client.code(), errc::data_loss);
  EXPECT_EQ(lines.str(), "debug /bidi-flow/loss opened\n"
                         "warning /bidi-flow/loss failed: data_loss\n");
}

TEST_F(log, a_cancel_is_no_fault) {
  recording_client client{system, rt->front_desk(), define_angry()};
  client.cancel();
  EXPECT_EQ(client.code(), errc::cancelled);
  EXPECT_EQ(lines.str(), "debug /bidi-flow/angry opened\n");
}

TEST_F(log, the_key_of_an_unknown_action_stays_out) {
  recording_client<int, int, int> client{
    system, rt->front_desk(),
    tertulia::open_request{"\nwarning all is lost", {}, {}, {}}};
  run();
  EXPECT_EQ(code_of(client.received().refused), errc::not_found);
  EXPECT_EQ(lines.str(), "info an unknown action refused: not_found\n");
}

} // namespace tertulia::test::log_tests
