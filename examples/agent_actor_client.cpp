// SPDX-License-Identifier: BSD-3-Clause

// A client of an agent that is an actor: it sends its next line when the turn
// has ended, and has the user approve what the agent's tools do.

#include <tertulia/ai/conversation_client.hpp>
#include <tertulia/ai/define_model.hpp>
#include <tertulia/ai/prompt_agent.hpp>
#include <tertulia/describe.hpp>
#include <tertulia/memory_store.hpp>

#include <caf/all.hpp>

#include <deque>
#include <iostream>
#include <string>
#include <utility>

#include "scripted_model.hpp"

namespace ai = tertulia::ai;

using agent_type = ai::session_flow<tertulia::nothing, tertulia::nothing>;

// --(agent-actor-client-begin)--
struct guest : ai::conversation_client<agent_type> {
  using conversation_client::conversation_client;

  void on_text(const std::string& x) override {
    std::cout << x;
  }

  void on_question(const ai::part& x) override {
    std::string line;
    std::cout << ai::question_text(x) << ' ';
    std::getline(std::cin, line);
    answer(line == "yes" ? ai::approval(x) : ai::refusal(x));
  }

  void on_turn_end() override {
    std::cout << '\n';
    if (send_answers())
      return;
    if (lines.empty())
      return close();
    send_text(std::move(lines.front()));
    lines.pop_front();
  }

  void on_output(out_type& x) override {
    std::cout << x.session_id.str() << ": " << x.state.messages.size()
              << " messages\n";
    self()->quit();
  }

  void on_error(const tertulia::status_error& x) override {
    std::cout << "failed: " << x.what() << '\n';
    self()->quit();
  }

  std::deque<std::string> lines;
};

caf::behavior visit(caf::stateful_actor<guest>* self, const agent_type& agent,
                    std::deque<std::string> lines) {
  agent.open(self->state, tertulia::with_session_id("table seven"));
  self->state.lines = std::move(lines);
  self->state.on_turn_end(); // it is the guest's turn
  return self->state.handlers();
}
// --(agent-actor-client-end)--

struct table {
  int guests = 1;
};

BOOST_DESCRIBE_STRUCT(table, (), (guests))

int main() {
  tertulia::config cfg;
  caf::actor_system system{cfg};
  tertulia::runtime rt{system};
  const auto book = ai::define_tool(
    rt, "book_table", "Books a table.",
    [](ai::tool_context ctx, table x) -> tertulia::task<std::string> {
      const auto question
        = "A table for " + std::to_string(x.guests) + ": yes or no?";
      const auto reply = co_await ctx.interrupt(question);
      co_return reply == true ? "booked" : "not wanted";
    });
  const auto script = [](int guests) {
    return ai::message{ai::role::model,
                       {ai::part::request("book_table", {{"guests", guests}})}};
  };
  const auto model
    = ai::define_model(rt, "script",
                       example::scripted_model{
                         {{"for four", script(4)},
                          {"for five", script(5)},
                          {"\"booked\"", ai::model_text("It is yours.")},
                          {"\"not wanted\"", ai::model_text("As you like.")}}});
  const agent_type agent = ai::define_prompt_agent(
    rt, "waiter", ai::prompt{model, ai::with_tools(book)},
    tertulia::with_snapshot_store(tertulia::spawn_memory_store(system)));

  // Detached: it reads from the terminal, which blocks its thread.
  const auto client = system.spawn<caf::detached>(
    visit, agent,
    std::deque<std::string>{"A table for four.", "A table for five."});
  caf::scoped_actor self{system};
  self->wait_for(client);
}
