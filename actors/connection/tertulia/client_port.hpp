// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/chunks.hpp>
#include <tertulia/detail/access.hpp>
#include <tertulia/detail/build.hpp>
#include <tertulia/detail/fifo.hpp>
#include <tertulia/nothing.hpp>
#include <tertulia/open.hpp>
#include <tertulia/protocol.hpp>
#include <tertulia/turn.hpp>

#include <caf/typed_event_based_actor.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

namespace tertulia {

namespace detail {

/// Type-independent part of a `client_port`: its credit, and the messages that
/// wait for credit.
class port_state {
public:
  port_state(connection_actor::pointer self, chunk_sink client,
             std::uint32_t credit);

  void on(const chunk_credit& x);
  void count_input();
  void send(payload batch);
  void end_turn();
  void finish(payload output, caf::error reason);

  [[nodiscard]] std::size_t lag() const noexcept {
    return pending_.size();
  }

private:
  void enqueue(payload batch);
  void send_pending();

  connection_actor::pointer self_;
  chunk_sink client_;
  std::uint32_t credit_;
  std::uint32_t due_input_credit_ = 0;
  std::uint64_t inputs_ = 0;
  std::uint64_t sent_ = 0;
  std::uint64_t turns_ = 0;
  fifo<payload> pending_; // an empty one is the end of a turn
  std::optional<completion> completion_;
};

} // namespace detail

/// Port to the client for a body that is a plain CAF actor: speaks the protocol
/// and counts the credit.
///
/// ```
/// connection_actor::behavior_type
/// shout(connection_actor::pointer self,
///       client_port<std::string, nothing, std::string> client, nothing) {
///   return {
///     [=](turn_input& x) { client.send(client.read(x) + "!"); },
///     [=](chunk_credit x) { client.on(x); },
///     [=](caf::close_atom) { client.finish(); },
///     [=](cancel_atom) { self->quit(); },
///   };
/// }
/// ```
///
/// An actor cannot wait, so `send` keeps chunks for which there is no credit.
/// The next input is requested only when nothing is kept: a body keeps at most
/// its answers to two inputs. A body with long answers should check `lag` and
/// continue when credit arrives.
///
/// @threads  only on the actor of its body.
/// @lifetime a light handle, cheap to copy; valid while the actor runs.
/// @design   docs/engine.md#bodies-that-are-actors.
template <class In, class Out, class Stream>
class client_port {
public:
  using in_type = In;
  using out_type = Out;
  using stream_type = Stream;

  /// Takes the value out of an input, and requests the next one.
  In read(turn_input& x) const {
    state_->count_input();
    return std::move(x.value).template take<In>();
  }

  /// Adds credit. Call this in the handler of `chunk_credit`.
  void on(const chunk_credit& x) const {
    state_->on(x);
  }

  /// Sends one chunk, or keeps it until there is credit. Takes a chunk or the
  /// arguments to build one. Does nothing after `finish` or `fail`.
  template <class... Ts>
  requires detail::buildable_from<Stream, Ts...>
  void send(Ts&&... xs) const {
    chunks<Stream> batch;
    batch.push_back(detail::build<Stream>(std::forward<Ts>(xs)...));
    state_->send(payload::of(std::move(batch)));
  }

  /// Ends the turn: the answer to the current input is complete.
  void end_turn() const {
    state_->end_turn();
  }

  /// Returns the number of chunks and ends of turns that wait for credit.
  [[nodiscard]] std::size_t lag() const noexcept {
    return state_->lag();
  }

  /// Sets the output and ends the actor once everything is sent. Takes an
  /// output or the arguments to build one. Only the first `finish` or `fail`
  /// counts.
  template <class... Ts>
  requires detail::buildable_from<Out, Ts...>
  void finish(Ts&&... xs) const {
    state_->finish(payload::of(detail::build<Out>(std::forward<Ts>(xs)...)),
                   {});
  }

  /// Ends the actor with an error instead of an output.
  void fail(errc code, std::string message) const {
    state_->finish({}, tertulia::fail(code, std::move(message)));
  }

private:
  friend detail::access;

  client_port(connection_actor::pointer self, chunk_sink client,
              std::uint32_t credit)
    : state_(
      std::make_shared<detail::port_state>(self, std::move(client), credit)) {}

  std::shared_ptr<detail::port_state> state_;
};

} // namespace tertulia
