// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/ai/session.hpp>
#include <tertulia/context.hpp>
#include <tertulia/span_names.hpp>

#include <concepts>
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
  /// opens a span `sessionFlow/turn`, adds the input's messages to the
  /// session, calls the turn function, makes the snapshot and ends the turn.
  ///
  /// @param turn a coroutine `task<>(context, const conversation_input&)`, or
  ///             one that returns `task<finish_reason>`; the context is that of
  ///             the turn's span. The function lives as long as the loop, so it
  ///             may capture. Without a reason the turn ends with that of the
  ///             last answer of a model in the session, if there is one.
  /// @errors those of the turn function and of the end of a turn, see
  ///         `responder::end_turn`. The loop then ends without ending the turn.
  template <class Turn>
  [[nodiscard]] task<> run_turns(context ctx, Turn&& turn) const {
    detail::check_awaited_arguments<Turn>();
    static_assert(is_turn<std::decay_t<Turn>>,
                  "the turn function of a session flow is a coroutine "
                  "task<>(context, const ai::conversation_input&), or one that "
                  "returns task<ai::finish_reason>");
    return loop<std::decay_t<Turn>>(ctx, std::forward<Turn>(turn));
  }

private:
  template <class Turn>
  static constexpr bool is_turn
    = requires(Turn& turn, context ctx, const conversation_input& input) {
    { turn(ctx, input) } -> std::same_as<task<>>;
  }
  || requires(Turn& turn, context ctx, const conversation_input& input) {
    { turn(ctx, input) } -> std::same_as<task<finish_reason>>;
  };

  template <class Turn>
  static task<> loop(context ctx, Turn turn) {
    const auto in = detail::access::make<input<conversation_input>>(
      detail::access::owner(ctx));
    while (auto input = co_await in.next()) {
      auto one = [&](context inner) -> task<> {
        const auto& host = detail::access::owner(inner);
        if (inner.trace().context() != nullptr) {
          const auto index = host.turn_index();
          const auto seeds_name = "sessionFlow/turn/" + std::to_string(index);
          inner.trace().set_attribute(span_names::name, seeds_name);
          inner.trace().set_attribute(span_names::turn, index);
        }
        host.services().values.record(inner.trace(), span_names::input,
                                      [&] { return to_json_text(*input); });
        // No need to wait: later requests of the turn to the session arrive
        // after this message, and the end of a session ends its connection.
        host.self()->send(host.link().session, turn_start{input->messages});
        using result
          = std::invoke_result_t<Turn&, context, const conversation_input&>;
        if constexpr (std::is_void_v<detail::awaited_t<result>>) {
          co_await turn(inner, std::as_const(*input));
          co_await detail::end_conversation_turn(inner);
        } else {
          const auto reason = co_await turn(inner, std::as_const(*input));
          co_await detail::end_conversation_turn(inner, reason);
        }
      };
      co_await ctx.run_step("sessionFlow/turn", one);
    }
  }
};

} // namespace tertulia::ai
