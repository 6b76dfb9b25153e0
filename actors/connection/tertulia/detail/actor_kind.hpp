// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/async_connection.hpp>
#include <tertulia/client_port.hpp>
#include <tertulia/detail/body_guard.hpp>
#include <tertulia/detail/coroutine_kind.hpp>
#include <tertulia/when.hpp>

#include <memory>
#include <string>
#include <type_traits>
#include <utility>

namespace tertulia::detail {

template <class Self, class In, class Out, class Stream, class Init>
struct body_signature<connection_actor::behavior_type(
  Self*, client_port<In, Out, Stream>, Init)>
  : body_types<std::remove_cvref_t<Init>, In, Out, Stream, true> {
  using self_type = Self;
};

/// A function that can be the body of a bidi action as a plain CAF actor.
template <class Body>
concept actor_body = bidi_body<Body> && requires {
  typename types_of_body<std::decay_t<Body>>::self_type;
};

/// Kind of the bidi actions whose body is a plain CAF actor. The connection
/// relays as the client of that actor, so everything that holds for connections
/// holds for such bodies too.
template <class Body>
struct actor_kind : types_of_body<Body> {
  using types = types_of_body<Body>;
  using init_type = typename types::init_type;
  using in_type = typename types::in_type;
  using stream_type = typename types::stream_type;
  using base_type = action;
  using body_type = Body;

  static payload check_init(payload init, const action&) {
    return init_or_default<init_type>(std::move(init));
  }

  static task<payload> start(const Body&, context ctx, payload init) {
    auto& at = access::owner(ctx);
    const body_guard body{
      at, at.self()->spawn(spawn, at.hosted_action(), chunk_sink{at.self()},
                           std::move(init).template take<init_type>())};
    nested_connection inner{at, open_result{body.actor(), 1},
                            client_end{chunk_window}};
    co_await when_any(pass_chunks(inner, at),
                      pass_inputs(inner, access::make<input<in_type>>(at)));
    if (const auto& failure = inner.end.failure())
      raise(failure);
    co_return inner.end.output();
  }

private:
  static constexpr std::uint32_t chunk_window = 64;

  /// @param owner keeps the body alive.
  static connection_actor::behavior_type
  spawn(typename types::self_type* self,
        const std::shared_ptr<const action>& owner, chunk_sink client,
        init_type init) {
    const auto& body = static_cast<const body_action<actor_kind>&>(*owner).body;
    return body(
      self,
      access::make<client_port<in_type, typename types::out_type, stream_type>>(
        self, std::move(client), chunk_window),
      std::move(init));
  }

  static task<> pass_chunks(nested_connection& from, host& to) {
    chunk_cursor<stream_type> cursor;
    for (;;) {
      auto chunk = co_await nested_next<stream_type>{from, cursor};
      if (chunk) {
        co_await send_chunk<stream_type>{to, std::move(*chunk)};
      } else if (from.end.next() == client_end::arrival::end) {
        co_return;
      } else {
        co_await detail::end_turn{to};
      }
    }
  }

  /// Relays the inputs. Ends only by a cancel: the chunks determine the end.
  static task<> pass_inputs(nested_connection& to, input<in_type> from) {
    while (auto value = co_await from.next())
      // The body may end without reading all inputs.
      if (!co_await as_expected(nested_send<in_type>{to, std::move(*value)}))
        break;
    to.close();
    co_await cancel_wait{};
  }
};

/// The kind of action with a body.
template <bidi_body Body>
using body_kind = std::conditional_t<actor_body<Body>, actor_kind<Body>,
                                     coroutine_kind<Body>>;

} // namespace tertulia::detail
