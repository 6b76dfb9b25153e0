// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/ai/session.hpp>
#include <tertulia/context.hpp>

#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

namespace tertulia::ai {

/// Session of a session flow, which owns the loop over its turns.
///
/// ```
/// task<> chat(context ctx, flow_session<settings> sess,
///             flow_responder<status> out) {
///   const auto turn = [&](context ctx, const conversation_input& input)
///     -> task<> { … };
///   co_await sess.run_turns(ctx, turn);
/// }
/// ```
///
/// @threads  only on the actor of its body.
/// @lifetime a light handle; valid while the body runs.
/// @design   docs/sessions.md#sessions; docs/genkit.md 004 §1.4, §6.2.
template <class Custom>
class flow_session : public chat_session<Custom> {
public:
  using chat_session<Custom>::chat_session;

  /// Runs the turns until the client has closed its input. For each input it
  /// opens a span `sessionFlow/turn/N`, adds the input's messages to the
  /// session, calls the turn function, makes the snapshot and ends the turn.
  ///
  /// @param turn a coroutine `task<>(context, const conversation_input&)`; the
  ///             context is that of the turn's span. The function lives as long
  ///             as the loop, so it may capture.
  /// @errors those of the turn function and of the end of a turn, see
  ///         `responder::end_turn`. The loop then ends without ending the turn.
  template <class Turn>
  [[nodiscard]] task<> run_turns(context ctx, Turn&& turn) const {
    detail::check_awaited_arguments<Turn>();
    return loop<std::decay_t<Turn>>(*this, ctx, std::forward<Turn>(turn));
  }

private:
  /// Records an input on a span. Tracing must not change the outcome: an input
  /// without JSON is an error where its JSON is needed, not here.
  static void note_input(span& to, const conversation_input& input) {
    if (to.context() == nullptr)
      return;
    try {
      to.set_attribute("genkit:input", to_json_text(input));
    } catch (const status_error& failure) {
      to.add_event("input without JSON", {{"why", failure.message()}});
    }
  }

  template <class Turn>
  static task<> loop(flow_session self, context ctx, Turn turn) {
    const auto in = detail::access::make<input<conversation_input>>(
      detail::access::owner(ctx));
    while (auto input = co_await in.next()) {
      auto one = [&](context inner) -> task<> {
        note_input(inner.trace(), *input);
        // No need to wait: later requests of the turn to the session arrive
        // after this message, and the end of a session ends its connection.
        const auto& host = detail::access::owner(inner);
        host.self()->send(host.link().session, turn_start{input->messages});
        co_await turn(inner, std::as_const(*input));
        co_await detail::end_conversation_turn(inner);
      };
      std::string name;
      if (detail::access::owner(ctx)
            .services()
            .traces.enabled()) { // else the name is not needed
        const auto index = co_await self.turn_index();
        name = "sessionFlow/turn/" + std::to_string(index);
      }
      co_await ctx.run_step(std::move(name), one);
    }
  }
};

} // namespace tertulia::ai
