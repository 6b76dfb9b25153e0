// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/define_agent.hpp>
#include <tertulia/descriptor.hpp>
#include <tertulia/when.hpp>

#include <cstddef>
#include <string>
#include <vector>

#include "support/conversations.hpp"

// Agents that add up numbers, and their snapshots as tools see them.

namespace tertulia::test::snapshot_tests {

using numbers = std::vector<int>;
using strings = std::vector<std::string>;
using sum_context = snapshot_context<int>;

/// Adds up its inputs, one turn each, and returns the snapshot ids of the ends
/// of the turns.
inline task<strings> add_up(context, agent_session<int> sess, input<int> in,
                            agent_responder<std::string> out) {
  const witness here;
  strings ids;
  while (const auto x = co_await in.next()) {
    co_await sess.update([&](int& sum) { sum += *x; });
    const auto id = co_await out.end_turn();
    ids.push_back(id.str());
  }
  co_return ids;
}

/// Adds up its inputs, one turn each, and doubles the sum after the last turn.
inline task<> add_up_and_double(context, agent_session<int> sess, input<int> in,
                                agent_responder<std::string> out) {
  while (const auto x = co_await in.next()) {
    co_await sess.update([&](int& sum) { sum += *x; });
    co_await out.end_turn();
  }
  co_await sess.update([](int& sum) { sum *= 2; });
}

struct snapshots : conversations {
  template <class... Options>
  auto define_sum(const Options&... options) {
    return define_stored_as("sum", add_up, options...);
  }

  /// Defines an agent that doubles the sum after its last turn.
  template <class Callback>
  auto define_doubling(Callback callback, const std::string& name = "sum") {
    return define_stored_as(name, add_up_and_double,
                            with_snapshot_callback(callback));
  }

  /// Defines an agent with a snapshot at every opportunity.
  auto define_kept_sum() {
    return define_sum(each_time);
  }

  json timeline(const std::string& id = "mine") {
    return snapshots_of(id, "sum");
  }

  json whole_timeline(const std::string& id = "mine") {
    return all_snapshots_of(id, "sum");
  }

  /// Runs session `mine` with these inputs and returns its snapshots.
  template <class Agent>
  strings run_mine(const Agent& what, const numbers& inputs) {
    finish(what.stream_bidi(my_session), inputs);
    return told(timeline());
  }

  /// Returns the index of the parent of each record; -1 for none.
  static numbers parents(const json& all) {
    numbers result;
    for (const auto& x : all)
      result.push_back(x.contains("parentId")
                         ? index_of(all, x.at("parentId").get<std::string>())
                         : -1);
    return result;
  }

  static int index_of(const json& all, const std::string& id) {
    for (std::size_t i = 0; i < all.size(); ++i)
      if (all[i].at("id") == id)
        return static_cast<int>(i);
    return -2;
  }

  /// Scripted model: runs two tools, waits for their ends, and answers with the
  /// new state of the session. It finds the session only by its type.
  static task<std::string> generate(context ctx, input<std::string> in,
                                    output<std::string>) {
    const auto question = co_await in.next();
    co_await when_all(run_tool(ctx, "add", 1), run_tool(ctx, "times", 10));
    const auto kept
      = co_await trigger_snapshot(ctx, snapshot_event::tool_iteration_end);
    const auto sess = ctx.session<agent_session<int>>();
    if (!sess)
      co_return "no session, snapshot '" + kept.str() + "'";
    const auto sum = co_await sess->state();
    co_return question.value_or("?") + ' ' + std::to_string(sum) + ' '
      + kept.str();
  }

  static task<> run_tool(context ctx, std::string name, int by) {
    const auto sess = ctx.session<agent_session<int>>();
    if (!sess)
      co_return;
    if (name == "add")
      co_await sess->update([&](int& x) { x += 100 * by; });
    else
      co_await sess->update([&](int& x) { x += by; });
  }

  std::string define_model() {
    return rt->define_bidi_flow("model", generate).info().key;
  }

  /// Defines an agent that lets the model answer, one turn per input.
  template <class... Options>
  auto define_asking(const Options&... options) {
    const auto model = define_model();
    return define_stored_as(
      "sum",
      [this, model](context ctx, agent_session<int> sess, input<int> in,
                    agent_responder<std::string> out) -> task<> {
        while (const auto x = co_await in.next()) {
          co_await sess.update([&](int& sum) { sum += *x; });
          const std::vector<json> question(1, json("sum?"));
          const json answer = co_await rt->run_action(ctx, model, question);
          co_await out.send(answer.get<std::string>());
          co_await sess.update([](int& sum) { ++sum; });
          co_await out.end_turn();
        }
      },
      options...);
  }
};

/// Returns the id of a snapshot of a sum.
inline std::string id_of(int sum) {
  return hash_of(std::to_string(sum));
}

} // namespace tertulia::test::snapshot_tests
