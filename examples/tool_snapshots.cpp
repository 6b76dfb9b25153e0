// SPDX-License-Identifier: BSD-3-Clause

// A layer that calls a model and its tools, for any agent. It does not know the
// session; it only reports when a snapshot may be useful. The tools find the
// session through their context.

#include <tertulia/ai/chat_agent.hpp>
#include <tertulia/describe.hpp>
#include <tertulia/memory_store.hpp>
#include <tertulia/trigger_snapshot.hpp>

#include <iostream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "scripted_model.hpp"

namespace ai = tertulia::ai;
using tertulia::json;

// --(generate-begin)--
using tool = tertulia::task<json> (*)(tertulia::context, json input);

// Asks the model until it wants no more tools; yields the conversation by then.
tertulia::task<ai::message_log>
generate(tertulia::context ctx, const example::scripted_model& model,
         const std::map<std::string, tool>& tools, ai::message_log messages) {
  for (;;) {
    auto answer = co_await model.generate(ctx, messages);
    messages = messages.with(*answer.message);
    std::vector<ai::tool_response> done;
    for (const auto& part : answer.message->content)
      if (const auto* wanted = part.as_request()) {
        auto result = co_await tools.at(wanted->name)(ctx, wanted->input);
        done.emplace_back(wanted->name, std::move(result), wanted->ref);
      }
    if (done.empty())
      co_return messages;
    co_await tertulia::trigger_snapshot(
      ctx, tertulia::snapshot_event::tool_iteration_end);
    messages = messages.with(ai::tool_responses(std::move(done)));
  }
}
// --(generate-end)--

// --(tools-begin)--
struct order {
  std::vector<std::string> dishes;
  int table = 0;
};

BOOST_DESCRIBE_STRUCT(order, (), (dishes, table))

tertulia::task<json> add_dish(tertulia::context ctx, json dish) {
  if (auto sess = ctx.session<ai::chat_session<order>>())
    co_await sess->patch_custom([&](order& x) { x.dishes.push_back(dish); });
  co_return "noted";
}

tertulia::task<json> choose_table(tertulia::context ctx, json table) {
  if (auto sess = ctx.session<ai::chat_session<order>>())
    co_await sess->patch_custom([&](order& x) { x.table = table; });
  co_return "free";
}
// --(tools-end)--

const std::map<std::string, tool> tools{{"addDish", add_dish},
                                        {"chooseTable", choose_table}};

const example::scripted_model model{{
  {"A churro, please", ai::message{ai::role::model,
                                   {ai::part::request("addDish", "churro"),
                                    ai::part::request("chooseTable", 7)}}},
  {"chooseTable", ai::model_text("A churro for table 7!")},
}};

tertulia::task<> serve(tertulia::context ctx, ai::chat_session<order> sess,
                       tertulia::input<ai::conversation_input> in,
                       ai::chat_responder<tertulia::nothing> out) {
  while (auto input = co_await in.next()) {
    co_await sess.add_messages(input->messages);
    auto messages
      = co_await generate(ctx, model, tools, co_await sess.messages());
    co_await out.send_text(messages.back().text());
    co_await sess.set_messages(std::move(messages));
    co_await out.end_turn();
  }
}

int main() {
  tertulia::config cfg;
  caf::actor_system system{cfg};
  tertulia::runtime rt{system};
  using enum tertulia::snapshot_event;
  auto waiter = ai::define_chat_agent(
    rt, "waiter", serve,
    tertulia::with_snapshot_store(tertulia::spawn_memory_store(system)),
    tertulia::with_snapshot_callback(
      tertulia::snapshot_on{tool_iteration_end, turn_end}));

  auto talk = waiter.stream_bidi();
  talk.send_text("A churro, please, outside.");
  for (const auto& item : talk.responses())
    if (item.chunk)
      std::cout << item.chunk->text() << '\n';
  talk.close();

  const auto snapshots = rt.run_action<std::vector<ai::agent_snapshot<order>>>(
    "/snapshot-store/waiter/listSnapshots",
    tertulia::session_query{talk.output().session_id});
  for (const auto& x : snapshots)
    std::cout << tertulia::to_json_text(x.event) << ": "
              << x.state.messages.size() << " messages, order "
              << tertulia::to_json_text(x.state.custom) << '\n';
}
