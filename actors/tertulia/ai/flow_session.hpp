// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/ai/session.hpp>
#include <tertulia/context.hpp>
#include <tertulia/detail/environment.hpp>

#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

namespace tertulia::ai {

/// The session of a session flow, which owns the loop over its turns.
///
/// ```
/// task<> chat(context ctx, flow_session<settings> sess,
///             flow_responder<status> out) {
///   co_await sess.run(ctx, [&](context turn, const conversation_input& said)
///                     -> task<> { … });
/// }
/// ```
///
/// @threads  only on the actor of its body.
/// @lifetime a light handle; valid while the body runs.
/// @design   README §5.14 "Sessions"; seed 004 §1.4, §6.2.
template <class Custom>
class flow_session : public session<Custom> {
public:
  using session<Custom>::session;

  /// Runs the turns until the client has closed: for each input a span
  /// `sessionFlow/turn/N`, the input's messages added to the session, the turn
  /// function, then the snapshot and the end of the turn.
  ///
  /// @param turn a coroutine `task<>(context, const conversation_input&)`; the
  ///             context is that of the turn's span. It lives as long as the
  ///             loop, so it may capture.
  /// @errors what the turn throws; what ending a turn does, see
  ///         `responder::end_turn`. The turn is then not over, and the loop is.
  template <class Turn>
  [[nodiscard]] task<> run(context ctx, Turn&& turn) const {
    detail::check_awaited_arguments<Turn>();
    return loop<std::decay_t<Turn>>(*this, ctx, std::forward<Turn>(turn));
  }

private:
  /// Says on a span what came in. To watch must change nothing: what has no
  /// JSON is an error where somebody needs some, and not here.
  static void note_input(span& to, const conversation_input& said) {
    if (to.context() == nullptr)
      return;
    try {
      to.set_attribute("genkit:input", to_json_text(said));
    } catch (const status_error& why) {
      to.add_event("input without JSON", {{"why", why.message()}});
    }
  }

  template <class Turn>
  static task<> loop(flow_session self, context ctx, Turn turn) {
    const input<conversation_input> in{ctx.owner()};
    while (auto said = co_await in.next()) {
      auto one = [&](context here) -> task<> {
        note_input(here.trace(), *said);
        // Nobody need wait for this: what the turn asks of the session comes
        // later, and a session that has ended takes the connection with it.
        detail::tell_session(here.owner(),
                             session_edit{session_verb::add_messages,
                                          payload::of(said->messages)});
        co_await turn(here, std::as_const(*said));
        co_await detail::end_conversation_turn(here);
      };
      std::string name;
      if (ctx.owner().env().traces.enabled()) { // else nobody sees it
        const auto index = co_await self.turn_index();
        name = "sessionFlow/turn/" + std::to_string(index);
      }
      co_await ctx.run(std::move(name), one);
    }
  }
};

} // namespace tertulia::ai
