// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/ai/conversation.hpp>
#include <tertulia/detail/access.hpp>
#include <tertulia/detail/session_calls.hpp>
#include <tertulia/output.hpp>

#include <concepts>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tertulia::ai {

/// Output stream of the body of a conversation.
///
/// @threads  only on the actor of its body.
/// @lifetime a light handle; valid while the body runs.
/// @design   docs/sessions.md#sessions; docs/genkit.md 003 §1.5, 004 §1.5.
template <class Status>
class flow_responder {
public:
  using status_type = Status;
  using value_type = stream_chunk<Status>;

  // All send functions wait while the client lags by a whole window. Errors:
  // `cancelled` or another error that ends the connection.

  /// Sends a whole chunk, for full control over its content. Its artifact is
  /// added to the session, as by `send_artifact`. Its end of turn and its
  /// snapshot are cleared: the body cannot send them.
  /// @errors also those of a change of the session.
  [[nodiscard]] task<> send(stream_chunk<Status> chunk) const {
    chunk.snapshot_created = {};
    chunk.end_turn = false;
    return add_and_send(ctx_, std::move(chunk));
  }

  /// Sends a piece of a model's answer.
  [[nodiscard]] auto send_chunk(model_response_chunk chunk) const {
    return send_built(
      // NOLINTNEXTLINE(bugprone-exception-escape): moving JSON asserts
      [chunk = std::move(chunk)](stream_chunk<Status>& x) mutable {
        x.chunk.emplace(std::move(chunk));
      });
  }

  /// Sends a text piece of a model's answer.
  [[nodiscard]] auto send_text(std::string text) const {
    return send_built(
      [text = std::move(text)](stream_chunk<Status>& x) mutable {
        // A default part is a text, so nothing is moved twice.
        auto& built = x.chunk.emplace().content.emplace_back();
        std::get<text_part>(built.value).text = std::move(text);
      });
  }

  /// Sends the status of the work. Takes a status or the arguments to build
  /// one.
  template <class... Ts>
  requires detail::buildable_from<Status, Ts...>
  [[nodiscard]] auto send_status(Ts&&... xs) const {
    detail::check_awaited_arguments<Ts...>();
    return send_built([status = detail::build<Status>(std::forward<Ts>(xs)...)](
                        stream_chunk<Status>& x) mutable {
      x.status.emplace(std::move(status));
    });
  }

  /// Adds an artifact to the session, where it replaces one of the same name,
  /// and sends it. So an artifact that was streamed in a turn is in that turn's
  /// snapshot.
  /// @errors also those of a change of the session.
  [[nodiscard]] task<> send_artifact(artifact x) const {
    stream_chunk<Status> chunk;
    chunk.artifact = std::move(x);
    return add_and_send(ctx_, std::move(chunk));
  }

  /// Builds an artifact from its parts, adds it to the session and sends it.
  /// For a call inside a `co_await`, where g++ 12 does not accept a braced
  /// list.
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

  /// Sends the gathered chunks now. Never waits.
  void flush() const {
    detail::access::owner(ctx_).flush();
  }

protected:
  [[nodiscard]] const context& ctx() const noexcept {
    return ctx_;
  }

private:
  friend detail::access;

  explicit flow_responder(context ctx) noexcept : ctx_(ctx) {}

  template <class Fill>
  [[nodiscard]] auto send_built(Fill fill) const {
    return detail::send_built<stream_chunk<Status>, Fill>{
      detail::access::owner(ctx_), std::move(fill)};
  }

  static task<> add_and_send(context ctx, stream_chunk<Status> x) {
    if (x.artifact)
      co_await detail::edit_session(detail::access::owner(ctx),
                                    session_verb::add_artifact,
                                    payload::of(*x.artifact));
    detail::send_chunk<stream_chunk<Status>> pending{detail::access::owner(ctx),
                                                     std::move(x)};
    co_await std::move(pending);
  }

  context ctx_;
};

} // namespace tertulia::ai
