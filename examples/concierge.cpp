// SPDX-License-Identifier: BSD-3-Clause

// An agent made of a model, a prompt and tools. One of the tools asks the user
// before it acts.

#include <tertulia/ai/define_model.hpp>
#include <tertulia/ai/prompt_agent.hpp>
#include <tertulia/describe.hpp>
#include <tertulia/memory_store.hpp>

#include <iostream>
#include <string>
#include <utility>
#include <vector>

namespace ai = tertulia::ai;

struct place {
  std::string city;
};

BOOST_DESCRIBE_STRUCT(place, (), (city))

struct booking {
  std::string hotel;
  int nights = 1;
};

BOOST_DESCRIBE_STRUCT(booking, (), (hotel, nights))

struct trip {
  std::vector<std::string> booked;
};

BOOST_DESCRIBE_STRUCT(trip, (), (booked))

// Stands in for a hosted model: requests the weather, then a room, and then
// repeats the result.
tertulia::task<ai::model_response>
play(tertulia::context, ai::generate_request question, ai::model_output out) {
  ai::message answer;
  answer.role = ai::role::model;
  const auto last = question.messages.back();
  const auto* received = last.content.front().as_response();
  if (received == nullptr) {
    auto input = tertulia::json::object();
    input["city"] = "Lisbon";
    answer.content.push_back(ai::part::request("weather", std::move(input)));
  } else if (received->name == "weather") {
    auto input = tertulia::json::object();
    input["hotel"] = "Tivoli";
    input["nights"] = 3;
    answer.content.push_back(ai::part::request("book", std::move(input)));
  } else {
    const auto text = "The hotel: " + received->output.get<std::string>();
    co_await out.send_text(text);
    answer.content.push_back(ai::part::text(text));
  }
  co_return ai::model_response{std::move(answer), ai::finish_reason::stop};
}

int main() {
  tertulia::config cfg;
  caf::actor_system system{cfg};
  tertulia::runtime rt{system};
  const auto model = ai::define_model(rt, "stand-in", play);
  const auto store = tertulia::spawn_memory_store(system);

  // --(tools-begin)--
  auto weather = ai::define_tool(
    rt, "weather", "Says how the weather is in a city.",
    [](ai::tool_context, place position) -> tertulia::task<std::string> {
      co_return "sunny in " + position.city;
    });

  auto book = ai::define_tool(
    rt, "book", "Books a room.",
    [](ai::tool_context ctx, booking x) -> tertulia::task<std::string> {
      const auto reply = co_await ctx.interrupt("Book the " + x.hotel + "?");
      if (reply != true)
        co_return "the guest does not want it";
      if (auto sess = ctx.session<ai::chat_session<trip>>())
        co_await sess->patch_custom(
          [&](trip& t) { t.booked.push_back(x.hotel); });
      co_return "booked for " + std::to_string(x.nights) + " nights";
    });
  // --(tools-end)--

  // --(agent-begin)--
  auto concierge = ai::define_prompt_agent<trip>(
    rt, "concierge",
    ai::prompt{model, ai::with_system("You help people who travel."),
               ai::with_tools(weather, book)},
    tertulia::with_snapshot_store(store));
  // --(agent-end)--

  // --(talk-begin)--
  auto talk = concierge.stream_bidi();
  talk.send_text("A room in Lisbon for 3 nights, if it is sunny.");
  std::vector<ai::message> answers;
  for (const auto& item : talk.responses())
    if (item.chunk)
      for (const auto& asked : ai::interrupts_in(item.chunk->content)) {
        std::cout << ai::question_text(asked) << " Yes.\n";
        answers.push_back(ai::approval(asked));
      }
  // --(talk-end)--

  // --(answer-begin)--
  // What a client in another language has to say, too: the request again.
  for (const auto& asked : answers)
    std::cout << ai::resumed_key << ": "
              << asked.content.front().metadata.at(ai::resumed_key) << '\n';
  talk.send_messages(answers); // now, or from another process next week
  for (const auto& item : talk.responses())
    if (item.chunk)
      std::cout << item.chunk->text();
  std::cout << '\n';
  // --(answer-end)--
  talk.close();
  const auto state = talk.output().state;
  std::cout << state.messages.size() << " messages, "
            << tertulia::to_json_text(state.custom) << '\n';
}
