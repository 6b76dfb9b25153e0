// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/chunks.hpp>
#include <tertulia/detail/build.hpp>
#include <tertulia/nothing.hpp>
#include <tertulia/open.hpp>
#include <tertulia/protocol.hpp>
#include <tertulia/turn.hpp>

#include <caf/typed_event_based_actor.hpp>

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <utility>

namespace tertulia {

namespace detail {

/// The part of a `client_port` that does not depend on the types: what waits
/// for credit, and the credit.
class port_state {
public:
  port_state(connection_actor::pointer self, chunk_sink client,
             std::uint32_t credit);

  void on(const chunk_credit& x);
  void took_input();
  void send(payload batch);
  void end_turn();
  void finish(payload output, caf::error reason);

  [[nodiscard]] std::size_t lag() const noexcept {
    return waiting_.size();
  }

private:
  void push(payload batch);
  void drain();

  connection_actor::pointer self_;
  chunk_sink client_;
  std::uint32_t credit_;
  std::uint32_t owed_inputs_ = 0;
  std::uint64_t inputs_ = 0;
  std::uint64_t sent_ = 0;
  std::uint64_t turns_ = 0;
  std::deque<payload> waiting_; // an empty one is the end of a turn
  std::optional<finished> last_;
};

} // namespace detail

/// What a body that is a plain CAF actor knows of its client: it speaks the
/// protocol and counts the credit.
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
/// An actor cannot wait, so `send` keeps what the client has no room for.
/// `read` asks for the next input only if nothing is kept by then: a body keeps
/// at most what it says to two inputs. One that says much looks at `lag` and
/// goes on when credit comes.
///
/// @threads  only on the actor of its body.
/// @lifetime a light handle, cheap to copy; valid while the actor runs.
/// @design   README §5.6 "Bodies that are actors".
template <class In, class Out, class Stream>
class client_port {
public:
  using in_type = In;
  using out_type = Out;
  using stream_type = Stream;

  /// Private to this library.
  client_port(connection_actor::pointer self, chunk_sink client,
              std::uint32_t credit)
    : state_(
      std::make_shared<detail::port_state>(self, std::move(client), credit)) {}

  /// Takes the value out of an input, and asks for the next one.
  In read(turn_input& x) const {
    state_->took_input();
    return std::move(x.value).template take<In>();
  }

  /// Tells of credit that has come: call it in the handler.
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

  /// Says that the answer to the present input is complete.
  void end_turn() const {
    state_->end_turn();
  }

  /// How many chunks and ends of turns wait for credit.
  [[nodiscard]] std::size_t lag() const noexcept {
    return state_->lag();
  }

  /// Gives the result and, once everything was sent, ends the actor. Takes an
  /// output or the arguments to build one. The first end counts.
  template <class... Ts>
  requires detail::buildable_from<Out, Ts...>
  void finish(Ts&&... xs) const {
    state_->finish(payload::of(detail::build<Out>(std::forward<Ts>(xs)...)),
                   {});
  }

  /// Ends with an error instead of a result.
  void fail(errc code, std::string message) const {
    state_->finish({}, tertulia::fail(code, std::move(message)));
  }

private:
  std::shared_ptr<detail::port_state> state_;
};

} // namespace tertulia
