// SPDX-License-Identifier: BSD-3-Clause

// A custom body around a model with tools: a tool that times out, a tool whose
// failure ends the turn, and a tool that a person answers for.

#include <tertulia/ai/define_model.hpp>
#include <tertulia/ai/generate.hpp>
#include <tertulia/ai/tool.hpp>
#include <tertulia/describe.hpp>
#include <tertulia/runtime.hpp>

#include <chrono>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "scripted_model.hpp"

namespace ai = tertulia::ai;
using namespace std::chrono_literals;

ai::message asks(const char* tool, tertulia::json input) {
  return {ai::role::model, {ai::part::request(tool, std::move(input))}};
}

// Stands in for a hosted model: parts of its input, and the answers to them.
const example::scripted_model script{{
  {"200 francs", asks("market_rate", {{"code", "CHF"}})},
  {"deadline_exceeded", ai::model_text("The bank does not answer.")},
  {"The hotel", asks("ask_person", {{"text", "From which account?"}})},
  {"ask_person \"travel\"", asks("pay", {{"bill", "hotel"}, {"euros", 210}})},
  {"pay \"hotel", ai::model_text("The hotel is paid.")},
  {"The car", asks("pay", {{"bill", "car"}, {"euros", 900}})},
}};

// -- tools --------------------------------------------------------------------

struct currency {
  std::string code;
};

BOOST_DESCRIBE_STRUCT(currency, (), (code))

struct question {
  std::string text;
};

BOOST_DESCRIBE_STRUCT(question, (), (text))

struct payment {
  std::string bill;
  double euros = 0;
};

BOOST_DESCRIBE_STRUCT(payment, (), (bill, euros))

// --(limit-begin)--
/// For any function of a tool. It asks each time, whatever was said to it, so a
/// person does not approve but answers in place of the tool.
void check_limit(const payment& x) {
  if (x.euros > 10'000)
    throw ai::interrupt_error("Who has signed for the " + x.bill + '?');
}
// --(limit-end)--

// -- body ---------------------------------------------------------------------

// --(body-begin)--
auto define_paymaster(tertulia::runtime& rt, const ai::prompt& prompt) {
  return rt.define_bidi_flow(
    "paymaster",
    [prompt](
      tertulia::context ctx, tertulia::input<std::string> in,
      tertulia::output<ai::model_response_chunk> out) -> tertulia::task<> {
      const auto hear = [&](auto piece) { return out.send(std::move(piece)); };
      ai::generation last;
      while (const auto text = co_await in.next()) {
        auto said = ai::user_text(*text);
        if (const auto open = last.interrupts(); !open.empty())
          said = ai::answer_to(open.front(), *text); // in place of the tool
        const auto messages = last.messages.with(std::move(said));
        last = co_await ai::generate_stream(ctx, prompt, hear,
                                            ai::with_messages(messages));
        co_await out.end_turn();
      }
    });
}
// --(body-end)--

// --(run-begin)--
auto define_monthly(tertulia::runtime& rt,
                    const ai::typed_tool<payment, std::string>& pay) {
  return rt.define_bidi_flow(
    "monthly",
    [pay](tertulia::context ctx, tertulia::input<payment> due,
          tertulia::output<std::string> out) -> tertulia::task<> {
      while (const auto bill = co_await due.next()) {
        auto receipt = co_await pay.call(ctx, *bill);
        co_await out.send(std::move(receipt));
      }
    });
}
// --(run-end)--

// --(question-begin)--
/// Has people answer for a tool, without a model.
auto define_counter(tertulia::runtime& rt, const ai::tool& clerk) {
  return rt.define_bidi_flow(
    "counter",
    [clerk](
      tertulia::context ctx, tertulia::json form,
      tertulia::input<tertulia::json> answers,
      tertulia::output<tertulia::json> out) -> tertulia::task<tertulia::json> {
      std::vector<tertulia::json> replies;
      for (;;) {
        tertulia::json question;
        try {
          co_return co_await clerk.call(ctx, form, replies);
        } catch (const tertulia::status_error& x) {
          const auto asked = ai::question_of(x);
          if (!asked)
            throw; // something else went wrong
          question = *asked;
        }
        co_await out.send(std::move(question));
        co_await out.end_turn();
        auto answer = co_await answers.next();
        if (!answer)
          throw tertulia::status_error{tertulia::errc::failed_precondition,
                                       "nobody has answered the clerk"};
        replies.push_back(std::move(*answer));
      }
    });
}
// --(question-end)--

// -- conversation -------------------------------------------------------------

// --(show-begin)--
void show(const ai::model_response_chunk& piece) {
  if (piece.aggregated)
    return; // it says again what came before
  if (piece.role == ai::role::tool)
    for (const auto& x : piece.content)
      if (const auto* done = x.as_response())
        std::cout << '[' << done->name << ": " << done->output << "]\n";
  for (const auto& x : ai::interrupts_in(piece.content))
    std::cout << ai::question_text(x);
  std::cout << piece.text();
}
// --(show-end)--

template <class Talk>
void say(Talk& talk, const char* text) {
  std::cout << "> " << text << '\n';
  talk.send(text);
  for (const auto& piece : talk.responses())
    show(piece);
  std::cout << '\n';
}

int main() {
  tertulia::config cfg;
  caf::actor_system system{cfg};
  tertulia::runtime rt{system};
  const auto model = ai::define_model(rt, "script", script);

  // --(tools-begin)--
  const auto rate = ai::define_tool(
    rt, "market_rate", "Asks the bank what a currency costs, in euros.",
    [](ai::tool_context ctx, currency) -> tertulia::task<double> {
      co_await ctx.sleep(1h); // the bank is closed
      co_return 0;
    },
    ai::with_tool_timeout(20ms));

  const auto pay = ai::define_tool(
    rt, "pay", "Pays a bill.",
    [](ai::tool_context, payment x) -> tertulia::task<std::string> {
      check_limit(x);
      if (x.euros > 500)
        throw tertulia::status_error{tertulia::errc::failed_precondition,
                                     "too little money for the " + x.bill};
      co_return x.bill + ": paid";
    },
    ai::with_tool_failure(ai::tool_failure::fails_turn));
  // --(tools-end)--

  const auto ask = ai::define_tool(
    rt, "ask_person", "Asks who has spent the money.",
    [](ai::tool_context ctx, question x) -> tertulia::task<tertulia::json> {
      co_return co_await ctx.interrupt(x.text);
    });

  // --(prompt-begin)--
  const ai::prompt prompt{
    model,
    ai::with_system("You pay the bills."),
    ai::with_tools(rate, ask, pay),
    ai::with_tool_choice(ai::tool_choice::required), // look before you speak
    ai::with_max_tool_calls(2),                      // of one answer
    ai::with_max_iterations(5)};                     // answers to one input
  // --(prompt-end)--

  // --(definition-begin)--
  const ai::tool_definition told = pay.definition();
  std::cout << tertulia::to_json_text(told) << '\n';
  const ai::tool_options& chosen = pay.options();
  if (chosen.on_failure == ai::tool_failure::fails_turn)
    std::cout << pay.info().key << " fails the turn\n";
  // --(definition-end)--

  auto talk = define_paymaster(rt, prompt).stream_bidi();
  say(talk, "What are 200 francs?");
  say(talk, "The hotel is 210 euros.");
  say(talk, "travel");
  try {
    say(talk, "The car is 900 euros.");
  } catch (const tertulia::status_error& x) {
    std::cout << "That went wrong: " << x.what() << '\n';
  }

  const auto monthly = define_monthly(rt, pay);
  auto rent = monthly.stream_bidi();
  rent.send("rent", 300.0);
  rent.close();
  for (const auto& receipt : rent.responses())
    std::cout << receipt << '\n';

  const tertulia::json form{{"text", "Who was in the car?"}};
  auto counter = define_counter(rt, ask).stream_bidi(tertulia::with_init(form));
  for (const auto& question : counter.responses())
    std::cout << question << '\n';
  counter.send("Ada");
  std::cout << counter.output() << '\n';

  // --(key-begin)--
  const tertulia::json phone{{"bill", "phone"}, {"euros", 30}};
  std::cout << rt.run_action("/tool/pay", {}, {}, tertulia::with_init(phone))
            << '\n';
  // --(key-end)--
}
