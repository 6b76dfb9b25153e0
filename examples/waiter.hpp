// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/ai/define_model.hpp>
#include <tertulia/ai/prompt_agent.hpp>
#include <tertulia/describe.hpp>
#include <tertulia/memory_store.hpp>

#include <chrono>
#include <string>

#include "scripted_model.hpp"

namespace example {

namespace ai = tertulia::ai;

// --(waiter-begin)--
struct table {
  int guests = 1;
};

BOOST_DESCRIBE_STRUCT(table, (), (guests))

using waiter_type = ai::session_flow<tertulia::nothing, tertulia::nothing>;

/// Defines an agent with a tool that asks before it acts.
template <ai::model_like Model>
waiter_type define_waiter(tertulia::runtime& rt, const Model& model,
                          const tertulia::snapshot_store& store) {
  const auto book = ai::define_tool(
    rt, "book_table", "Books a table.",
    [](ai::tool_context ctx, table x) -> tertulia::task<std::string> {
      const auto reply = co_await ctx.interrupt(
        "A table for " + std::to_string(x.guests) + ": yes or no?");
      if (reply != true)
        co_return "not wanted";
      if (x.guests > 6)
        co_await ctx.sleep(std::chrono::minutes{10}); // the house is full
      co_return "booked";
    },
    ai::with_tool_timeout(std::chrono::hours{1}));
  return ai::define_prompt_agent(rt, "waiter",
                                 ai::prompt{model, ai::with_tools(book)},
                                 tertulia::with_snapshot_store(store));
}
// --(waiter-end)--

/// Defines the waiter with a model that answers from a script.
inline waiter_type define_waiter(tertulia::runtime& rt) {
  const auto book = [](int guests) {
    return ai::message{ai::role::model,
                       {ai::part::request("book_table", {{"guests", guests}})}};
  };
  const auto model = ai::define_model(
    rt, "script",
    scripted_model{{{"for four", book(4)},
                    {"for five", book(5)},
                    {"\"booked\"", ai::model_text("It is yours.")},
                    {"\"not wanted\"", ai::model_text("As you like.")}}});
  return define_waiter(rt, model, tertulia::spawn_memory_store(rt.system()));
}

} // namespace example
