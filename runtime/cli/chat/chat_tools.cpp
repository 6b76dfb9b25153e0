// SPDX-License-Identifier: BSD-3-Clause

#include "chat_tools.hpp"

#include <tertulia/describe.hpp>

#include <chrono>
#include <random>
#include <string>

#include "output/shown_text.hpp"
#include "output/units.hpp"
#include <fmt/format.h>

namespace tertulia::tool {

namespace {

struct clock_input {};

BOOST_DESCRIBE_STRUCT(clock_input, (), ())

struct dice_input {
  int sides = 6;
};

BOOST_DESCRIBE_STRUCT(dice_input, (), (sides))

struct timer_input {
  int seconds = 0;
};

BOOST_DESCRIBE_STRUCT(timer_input, (), (seconds))

struct question_input {
  std::string question;
};

BOOST_DESCRIBE_STRUCT(question_input, (), (question))

/// @errors throws `invalid_argument`, which is reported to the model.
void expect_within(const char* what, int x, int least, int most) {
  if (x < least || x > most)
    throw status_error{errc::invalid_argument,
                       fmt::format("{} must be from {} to {}", what, least,
                                   most)};
}

task<std::string> read_clock(ai::tool_context, clock_input) {
  co_return exact_time(caf::make_timestamp());
}

task<int> throw_dice(ai::tool_context, dice_input x) {
  if (x.sides == 0) // not given
    x.sides = dice_input{}.sides;
  expect_within("the sides", x.sides, 2, 1'000'000);
  std::random_device source;
  co_return std::uniform_int_distribution<int>{1, x.sides}(source);
}

task<std::string> run_timer(ai::tool_context ctx, timer_input x) {
  expect_within("the seconds", x.seconds, 0, 86'400);
  co_await ctx.sleep(std::chrono::seconds{x.seconds});
  co_return fmt::format("{} {} over",
                        counted(static_cast<unsigned>(x.seconds), "second"),
                        x.seconds == 1 ? "is" : "are");
}

task<json> ask_user(ai::tool_context ctx, question_input x) {
  co_return co_await ctx.interrupt(x.question);
}

} // namespace

std::vector<ai::tool> define_chat_tools(runtime& rt) {
  std::vector<ai::tool> result;
  result.push_back(
    ai::define_tool(rt, "clock", "Returns the date and the time.", read_clock));
  result.push_back(ai::define_tool(
    rt, "dice", "Rolls a die with the given number of sides.", throw_dice));
  result.push_back(ai::define_tool(
    rt, "timer",
    "Waits for the given number of seconds without blocking others.",
    run_timer));
  result.push_back(ai::define_tool(
    rt, "ask_user", "Asks the user a question and waits for the answer.",
    ask_user));
  return result;
}

} // namespace tertulia::tool
