// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/ai/define_model.hpp>
#include <tertulia/ai/prompt_agent.hpp>

#include <map>
#include <set>
#include <string>
#include <utility>

namespace tertulia::test {

struct errand {
  std::string what;
  BOOST_DESCRIBE_CLASS(errand, (), (what), (), ())
};

/// Model that requests the tool once for each text of the user, and says that
/// it is done.
inline task<ai::model_response> do_errand(context, ai::generate_request request,
                                          ai::model_output out) {
  const auto& last = request.messages.back();
  if (last.role == ai::role::user) {
    auto said = ai::model_text("one moment ");
    co_await out.send_text(said.text());
    said.content.push_back(
      ai::part::request("do", {{"what", last.text()}}, "r"));
    co_return ai::model_response{std::move(said), ai::finish_reason::stop};
  }
  co_await out.send_text("done");
  co_return ai::model_response{ai::model_text("done"), ai::finish_reason::stop};
}

/// Agents that do what the user says, with a tool that has an effect.
struct errands {
  using clerk_type = ai::session_flow<nothing, nothing>;

  [[nodiscard]] clerk_type define_clerk(runtime& at,
                                        const managed_store& store) {
    const auto act = ai::define_tool(
      at, "do", "", [this](ai::tool_context ctx, errand x) -> task<bool> {
        if (calls.insert(ctx.call_id()).second)
          ++effects[x.what];
        co_return true;
      });
    return ai::define_prompt_agent(
      at, "clerk",
      ai::prompt{ai::define_model(at, "clerk", do_errand), ai::with_tools(act)},
      with_snapshot_store(store));
  }

  void clear() {
    effects.clear();
    calls.clear();
  }

  std::map<std::string, int> effects;
  std::set<std::string> calls; ///< ids of calls that had their effect
};

} // namespace tertulia::test
