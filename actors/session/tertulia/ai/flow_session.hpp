// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/ai/chat_session.hpp>
#include <tertulia/detail/flow_turns.hpp>

#include <concepts>
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
  ///         `agent_responder::end_turn`. The loop then ends without ending the
  ///         turn.
  template <class Turn>
  [[nodiscard]] task<> run_turns(context ctx, Turn&& turn) const {
    detail::check_awaited_arguments<Turn>();
    static_assert(is_turn<std::decay_t<Turn>>,
                  "the turn function of a session flow is a coroutine "
                  "task<>(context, const ai::conversation_input&), or one that "
                  "returns task<ai::finish_reason>");
    using result = std::invoke_result_t<std::decay_t<Turn>&, context,
                                        const conversation_input&>;
    return detail::run_flow_turns(
      ctx, detail::turn_function<detail::awaited_t<result>>{
             std::decay_t<Turn>(std::forward<Turn>(turn))});
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
};

} // namespace tertulia::ai
