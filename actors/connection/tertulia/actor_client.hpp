// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/chunks.hpp>
#include <tertulia/detail/actor_connection.hpp>
#include <tertulia/detail/build.hpp>
#include <tertulia/detail/chunk_cursor.hpp>
#include <tertulia/detail/last_state.hpp>

#include <optional>
#include <utility>

namespace tertulia {

/// Client of an action for an actor: speaks the protocol, counts the credit and
/// calls a function for each event.
///
/// ```
/// using shout_flow = bidi_flow<nothing, std::string, nothing, std::string>;
///
/// struct reader : actor_client<shout_flow> {
///   using actor_client::actor_client;
///   void on_chunk(std::string& word) override { std::cout << word << '\n'; }
/// };
///
/// caf::behavior read(caf::stateful_actor<reader>* self, shout_flow flow) {
///   flow.open(self->state);
///   self->state.send("hello");
///   self->state.close();
///   return self->state.handlers();
/// }
/// ```
///
/// One connection at a time; after `on_output` or `on_error` another one can be
/// opened. An actor with several connections has several clients, and passes
/// each message to `handle` of all of them; it answers a `completion` with the
/// error that one of them returns.
///
/// @tparam Handle type of the handle, such as `ai::chat_agent<nothing>`.
/// @threads  only on its actor.
/// @lifetime in the state of its actor. If the actor ends before the action has
///           finished, the action is cancelled.
/// @design   docs/engine.md#clients.
template <class Handle>
class actor_client : public detail::actor_connection {
public:
  static_assert(
    requires { typename Handle::stream_type; },
    "an actor_client is that of a handle, such as bidi_flow<...>");

  using in_type = typename Handle::in_type;
  using out_type = typename Handle::out_type;
  using stream_type = typename Handle::stream_type;

  using actor_connection::actor_connection;

  /// Sends one input. Without credit it waits for that, as do inputs before the
  /// connection is open; at most a window of inputs waits. Takes an input or
  /// the arguments to build one.
  /// @errors `resource_exhausted` if too many inputs wait; `invalid_argument`
  ///         for an input that the action does not accept;
  ///         `failed_precondition` after `close` and without a connection;
  ///         `cancelled` after a cancel. Nothing is sent then.
  template <class... Ts>
  requires detail::buildable_from<in_type, Ts...>
  void send(Ts&&... xs) {
    send_input(payload::of(detail::build<in_type>(std::forward<Ts>(xs)...)));
  }

  /// Returns the last state of a failed conversation, as
  /// `connection::last_state`; for `on_error`.
  [[nodiscard]] auto last_state() const requires detail::has_state<out_type> {
    return detail::take_state<out_type>(state_of_last());
  }

protected:
  /// Called for each chunk.
  virtual void on_chunk(stream_type& x) = 0;

  /// Called when the action has finished, after all chunks. The connection has
  /// ended then, and another one may be opened. By default the actor ends.
  virtual void on_output(out_type&) {
    self()->quit();
  }

private:
  void read(chunk_batch x) final {
    detail::chunk_cursor<stream_type> cursor;
    try {
      cursor.load(std::move(x));
    } catch (...) {
      return reject(current_exception_to_error());
    }
    for (const auto of = number(); !cursor.empty() && of == number();) {
      auto chunk = cursor.take();
      set_unread(cursor.size());
      on_chunk(chunk);
    }
    set_unread(0);
  }

  void read(payload x) final {
    std::optional<out_type> output;
    try {
      output.emplace(std::move(x).template take<out_type>());
    } catch (...) {
      return on_error(to_status(current_exception_to_error()));
    }
    on_output(*output);
  }
};

} // namespace tertulia
