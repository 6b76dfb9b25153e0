// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/ai/session.hpp>
#include <tertulia/context.hpp>

#include <cstdint>
#include <string>
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
/// @design   README §5.9 "Sessions"; seed 004 §1.4, §6.2.
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
  [[nodiscard]] task<> run(context ctx, Turn turn) const {
    return loop(*this, ctx, std::move(turn));
  }

private:
  template <class Turn>
  static task<> loop(flow_session self, context ctx, Turn turn) {
    const input<conversation_input> in{ctx.owner()};
    std::uint64_t index = 0;
    if (ctx.trace().context() != nullptr) // else nobody sees the name
      index = co_await self.turn_index();
    while (auto said = co_await in.next()) {
      auto one = [&](context here) -> task<> {
        if (here.trace().context() != nullptr)
          here.trace().set_attribute("genkit:input", to_json_text(*said));
        co_await self.add_messages(said->messages);
        co_await turn(here, std::as_const(*said));
        co_await detail::end_conversation_turn(here);
      };
      co_await ctx.run("sessionFlow/turn/" + std::to_string(index), one);
      ++index;
    }
  }
};

} // namespace tertulia::ai
