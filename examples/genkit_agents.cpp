// SPDX-License-Identifier: BSD-3-Clause

// Flows and agents for Genkit's clients: what a JavaScript program calls by
// `runFlow`, `streamFlow` and `remoteAgent`. It serves until its input ends:
//
//   genkit_agents [THREADS]

#include <tertulia/ai/chat_agent.hpp>
#include <tertulia/ai/define_evaluator.hpp>
#include <tertulia/ai/define_model.hpp>
#include <tertulia/ai/prompt_agent.hpp>
#include <tertulia/config.hpp>
#include <tertulia/describe.hpp>
#include <tertulia/genkit_dev.hpp>
#include <tertulia/genkit_protocol.hpp>
#include <tertulia/http_server.hpp>
#include <tertulia/memory_store.hpp>

#include <chrono>
#include <future>
#include <iostream>
#include <limits>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace ai = tertulia::ai;
using tertulia::errc;
using tertulia::status_error;

// -- flows --------------------------------------------------------------------

tertulia::task<std::string> greet(tertulia::context,
                                  tertulia::input<std::string> in,
                                  tertulia::output<std::string>) {
  const auto name = co_await in.next();
  if (!name || name->empty())
    throw status_error{errc::failed_precondition, "nobody is there"};
  co_return "Hello, " + *name + '!';
}

tertulia::task<int> count(tertulia::context, tertulia::input<int> in,
                          tertulia::output<int> out) {
  const auto last = co_await in.next();
  for (int i = 1; last && i <= *last; ++i)
    co_await out.send(i);
  if (last && *last > 3)
    throw status_error{errc::out_of_range, "that is too far"};
  co_return last.value_or(0);
}

// -- an agent whose body is a program -----------------------------------------

struct notebook {
  std::vector<std::string> words;
};

BOOST_DESCRIBE_STRUCT(notebook, (), (words))

tertulia::task<> take_notes(tertulia::context ctx,
                            ai::flow_session<notebook> chat,
                            ai::flow_responder<tertulia::nothing> out) {
  co_await chat.run_turns(
    ctx,
    [&](tertulia::context inner,
        const ai::conversation_input& x) -> tertulia::task<ai::finish_reason> {
      const auto text
        = x.messages.empty() ? std::string{} : x.messages.back().text();
      co_await chat.patch_custom(
        [&](notebook& to) { to.words.push_back(text); });
      if (text == "fail")
        throw status_error{errc::unavailable, "the pencil is broken"};
      if (text == "sleep")
        co_await inner.sleep(std::chrono::hours{1});
      if (text == "wait")
        co_await inner.sleep(std::chrono::milliseconds{300});
      if (text == "draw")
        co_await out.send_artifact("picture", ai::part::text("a cat"));
      const auto all = co_await chat.custom();
      const auto answer = "Note " + std::to_string(all.words.size());
      co_await out.send_text(answer + ": ");
      co_await out.send_text(text);
      co_await chat.add_messages(ai::model_text(answer + ": " + text));
      co_return text == "stop" ? ai::finish_reason::length
                               : ai::finish_reason::stop;
    });
}

// -- an agent that ends its turns itself --------------------------------------

tertulia::task<> repeat(tertulia::context, ai::chat_session<notebook> chat,
                        tertulia::input<ai::conversation_input> in,
                        ai::chat_responder<tertulia::nothing> out) {
  while (const auto x = co_await in.next()) {
    co_await chat.add_messages(x->messages);
    const auto text
      = x->messages.empty() ? std::string{} : x->messages.back().text();
    co_await chat.patch_custom([&](notebook& to) { to.words.push_back(text); });
    co_await out.send_text(text);
    co_await chat.add_messages(ai::model_text(text));
    co_await out.end_turn();
  }
}

// -- an agent whose model has a tool that asks --------------------------------

struct booking {
  std::string hotel;
};

BOOST_DESCRIBE_STRUCT(booking, (), (hotel))

// Stands in for a hosted model: books a room in each hotel of a list, and says
// what has become of it.
tertulia::task<ai::model_response>
play(tertulia::context, ai::generate_request question, ai::model_output out) {
  ai::message answer;
  answer.role = ai::role::model;
  const auto last = question.messages.back();
  if (last.content.front().as_response() != nullptr) {
    std::string text = "The hotel:";
    for (const auto& part : last.content)
      if (const auto* received = part.as_response())
        text += ' ' + received->output.get<std::string>();
    co_await out.send_text(text);
    answer.content.push_back(ai::part::text(text));
  } else {
    std::istringstream hotels{last.text()};
    for (std::string hotel; std::getline(hotels, hotel, ',');) {
      auto input = tertulia::json::object();
      input["hotel"] = hotel;
      answer.content.push_back(ai::part::request(
        "book", std::move(input), std::to_string(answer.content.size() + 1)));
    }
  }
  co_return ai::model_response{std::move(answer), ai::finish_reason::stop};
}

tertulia::task<std::string> book(ai::tool_context ctx, booking x) {
  if (x.hotel == "Hostel")
    co_return "booked"; // nobody minds
  auto question = tertulia::json::object();
  question["question"] = "Book the " + x.hotel + '?';
  const auto reply = co_await ctx.interrupt(std::move(question));
  co_return reply == true ? "booked" : "not booked";
}

// -- an evaluator -------------------------------------------------------------

tertulia::task<ai::evaluation> check_greeting(tertulia::context,
                                              ai::test_case x) {
  ai::evaluation result;
  result.passed
    = x.output.is_string() && x.output.get<std::string>().starts_with("Hello");
  result.score = *result.passed ? 1 : 0;
  result.reasoning = "a greeting begins with a hello";
  co_return result;
}

int main(int argc, char** argv) {
  tertulia::http_server_options options;
  if (argc > 1)
    options.threads = std::stoul(argv[1]);
  tertulia::config cfg;
  caf::actor_system system{cfg};
  tertulia::runtime rt{system};
  const auto store = tertulia::spawn_memory_store(system);
  // --(define-begin)--
  rt.define_bidi_flow("greet", greet);
  rt.define_bidi_flow("count", count);
  ai::define_session_flow(rt, "notes", take_notes,
                          tertulia::with_snapshot_store(store));
  ai::define_session_flow(rt, "pocket", take_notes); // its clients have states
  ai::define_chat_agent(
    rt, "parrot", repeat, tertulia::with_snapshot_store(store),
    tertulia::with_snapshot_callback(tertulia::snapshot_always{}));
  ai::define_prompt_agent(
    rt, "concierge",
    ai::prompt{ai::define_model(rt, "stand-in", play),
               ai::with_tools(ai::define_tool(rt, "book", "Books.", book))},
    tertulia::with_snapshot_store(store));
  options.protocols.emplace_back(tertulia::genkit_protocol());
  const tertulia::http_server web{rt, options};
  // --(define-end)--
  // --(dev-begin)--
  ai::define_evaluator(rt, "greeting", check_greeting, "Is it a greeting?");
  const tertulia::genkit_dev dev{rt}; // for `genkit start` and its siblings
  // --(dev-end)--
  if (dev.is_active())
    std::promise<void>{}.get_future().wait(); // they end the program
  if (std::cin.peek() != std::istream::traits_type::eof())
    std::cout << web.url() << "/genkit\n" << std::flush;
  std::cin.ignore(std::numeric_limits<std::streamsize>::max());
}
