// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/detail/flow_turns.hpp>
#include <tertulia/detail/session_calls.hpp>
#include <tertulia/input.hpp>
#include <tertulia/json_value.hpp>
#include <tertulia/span_names.hpp>

#include <string>
#include <type_traits>
#include <utility>

namespace tertulia::detail {

namespace {

/// Begins a turn on the span and in the session.
void begin_turn(context ctx, const ai::conversation_input& input) {
  const auto& host = access::owner(ctx);
  if (ctx.trace().context() != nullptr) {
    const auto index = host.turn_index();
    const auto seeds_name = "sessionFlow/turn/" + std::to_string(index);
    ctx.trace().set_attribute(span_names::name, seeds_name);
    ctx.trace().set_attribute(span_names::turn, index);
  }
  host.services().values.record(ctx.trace(), span_names::input,
                                [&] { return to_json_text(input); });
  // No need to wait: later requests of the turn to the session arrive after
  // this message, and the end of a session ends its connection.
  host.self()->send(host.link().session, turn_start{input.messages});
}

template <class Result>
task<> run_turns(context ctx, turn_function<Result> turn) {
  const auto in
    = access::make<input<ai::conversation_input>>(access::owner(ctx));
  while (auto input = co_await in.next()) {
    auto one = [&](context inner) -> task<> {
      begin_turn(inner, *input);
      if constexpr (std::is_void_v<Result>) {
        co_await turn(inner, std::as_const(*input));
        co_await end_conversation_turn(inner);
      } else {
        const auto reason = co_await turn(inner, std::as_const(*input));
        co_await end_conversation_turn(inner, reason);
      }
    };
    co_await ctx.run_step("sessionFlow/turn", one);
  }
}

} // namespace

task<> run_flow_turns(context ctx, turn_function<void> turn) {
  return run_turns<void>(ctx, std::move(turn));
}

task<> run_flow_turns(context ctx, turn_function<ai::finish_reason> turn) {
  return run_turns<ai::finish_reason>(ctx, std::move(turn));
}

} // namespace tertulia::detail
