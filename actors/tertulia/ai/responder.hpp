// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/ai/conversation.hpp>
#include <tertulia/detail/session_calls.hpp>
#include <tertulia/output.hpp>

#include <concepts>
#include <string>
#include <utility>
#include <vector>

namespace tertulia::ai {

/// What the body of a conversation says to its client.
///
/// @threads  only on the actor of its body.
/// @lifetime a light handle; valid while the body runs.
/// @design   README §5.14 "Sessions"; seeds 003 §1.5, 004 §1.5.
template <class Status>
class flow_responder {
public:
  using status_type = Status;
  using value_type = stream_chunk<Status>;

  /// Private to this library.
  explicit flow_responder(context ctx) noexcept : ctx_(ctx) {}

  // All of them wait while the client lags by a whole window. Errors:
  // `cancelled` and what else ends the connection.

  /// Sends a whole chunk, for full control over what is in it. Its artifact is
  /// added to the session, as `send_artifact` does. Its end of turn and
  /// snapshot are not for the body to say.
  /// @errors also what changing the session does.
  [[nodiscard]] task<> send(stream_chunk<Status> chunk) const {
    chunk.snapshot_created = {};
    chunk.end_turn = false;
    return add_and_send(ctx_, std::move(chunk));
  }

  /// Sends a piece of a model's answer.
  [[nodiscard]] auto send_chunk(model_response_chunk chunk) const {
    // NOLINTNEXTLINE(bugprone-exception-escape): moving JSON asserts
    return made([chunk = std::move(chunk)](stream_chunk<Status>& x) mutable {
      x.chunk.emplace(std::move(chunk));
    });
  }

  /// Sends a piece of a model's answer that is text.
  [[nodiscard]] auto send_text(std::string text) const {
    return made([text = std::move(text)](stream_chunk<Status>& x) mutable {
      // A default part is a text: nothing is moved twice.
      auto& made = x.chunk.emplace().content.emplace_back();
      std::get<text_part>(made.value).text = std::move(text);
    });
  }

  /// Says how the work goes. Takes a status or the arguments to build one.
  template <class... Ts>
  requires detail::buildable_from<Status, Ts...>
  [[nodiscard]] auto send_status(Ts&&... xs) const {
    detail::check_awaited_arguments<Ts...>();
    return made([status = detail::build<Status>(std::forward<Ts>(xs)...)](
                  stream_chunk<Status>& x) mutable {
      x.status.emplace(std::move(status));
    });
  }

  /// Adds an artifact to the session, where one of the same name is replaced,
  /// and sends it: what was streamed in a turn is in that turn's snapshot.
  /// @errors also what changing the session does.
  [[nodiscard]] task<> send_artifact(artifact x) const {
    stream_chunk<Status> chunk;
    chunk.artifact = std::move(x);
    return add_and_send(ctx_, std::move(chunk));
  }

  /// The same of its parts: g++ 12 does not accept a braced list inside a
  /// `co_await`.
  template <class... Parts>
  requires(sizeof...(Parts) > 0 && (std::convertible_to<Parts, part> && ...))
    [[nodiscard]] task<> send_artifact(std::string name,
                                       Parts&&... parts) const {
    detail::check_awaited_arguments<Parts...>();
    artifact x;
    x.name = std::move(name);
    (x.parts.push_back(std::forward<Parts>(parts)), ...);
    return send_artifact(std::move(x));
  }

  /// Sends what has gathered now. Never waits.
  void flush() const {
    ctx_.owner().flush();
  }

protected:
  [[nodiscard]] const context& ctx() const noexcept {
    return ctx_;
  }

private:
  template <class Fill>
  [[nodiscard]] auto made(Fill fill) const {
    return detail::send_made<stream_chunk<Status>, Fill>{ctx_.owner(),
                                                         std::move(fill)};
  }

  static task<> add_and_send(context ctx, stream_chunk<Status> x) {
    if (x.artifact)
      co_await detail::edit_session(ctx.owner(), session_verb::add_artifact,
                                    payload::of(*x.artifact));
    detail::send_chunk<stream_chunk<Status>> pending{ctx.owner(), std::move(x)};
    co_await std::move(pending);
  }

  context ctx_;
};

/// The same for a chat agent, whose body ends its turns itself. Seed 003 §1.5.
template <class Status>
class responder : public flow_responder<Status> {
public:
  using flow_responder<Status>::flow_responder;

  /// Ends the turn: has a snapshot made if one is wanted, tells the client of
  /// it, and then of the end.
  ///
  /// @returns the id of the snapshot that has the state; empty if none was
  ///          wanted.
  /// @errors  as `tertulia::responder::end_turn`.
  [[nodiscard]] task<snapshot_id> end_turn() const {
    return detail::end_conversation_turn(this->ctx());
  }
};

} // namespace tertulia::ai
