// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/context.hpp>
#include <tertulia/detail/access.hpp>
#include <tertulia/detail/body_action.hpp>
#include <tertulia/detail/check_json.hpp>
#include <tertulia/detail/make_descriptor.hpp>
#include <tertulia/input.hpp>
#include <tertulia/nothing.hpp>
#include <tertulia/output.hpp>
#include <tertulia/when.hpp>

#include <type_traits>
#include <utility>

namespace tertulia::detail {

/// The types of a bidi action, deduced from the parameters of its body.
template <class Init, class In, class Out, class Stream, bool TakesInit>
struct body_types {
  using init_type = Init;
  using in_type = In;
  using out_type = std::conditional_t<std::is_void_v<Out>, nothing, Out>;
  using stream_type = Stream;

  static constexpr bool takes_init = TakesInit;
};

template <class Signature>
struct body_signature;

template <class Out, class Init, class In, class Stream>
struct body_signature<task<Out>(context, Init, input<In>, output<Stream>)>
  : body_types<std::remove_cvref_t<Init>, In, Out, Stream, true> {};

template <class Out, class In, class Stream>
struct body_signature<task<Out>(context, input<In>, output<Stream>)>
  : body_types<nothing, In, Out, Stream, false> {};

template <class Member>
struct call_operator;

template <class C, class R, class... Ts>
struct call_operator<R (C::*)(Ts...) const> {
  using type = R(Ts...);
};

template <class C, class R, class... Ts>
struct call_operator<R (C::*)(Ts...) const noexcept> {
  using type = R(Ts...);
};

template <class Body>
struct callable_signature : call_operator<decltype(&Body::operator())> {};

template <class R, class... Ts>
struct callable_signature<R (*)(Ts...)> {
  using type = R(Ts...);
};

/// The types of a body that is a function, or a function object with one const
/// call operator that is not a template.
template <class Body>
using types_of_body = body_signature<typename callable_signature<Body>::type>;

/// A function that can be the body of a bidi action: a coroutine
/// `task<Out>(context, Init, input<In>, output<Stream>)`, or without `Init`.
template <class Body>
concept bidi_body = requires {
  typename types_of_body<std::decay_t<Body>>::in_type;
};

/// Rejects a function that cannot be the body of a bidi action, with an
/// explanation from the compiler.
template <class Body>
consteval bool check_bidi_body() {
  static_assert(bidi_body<Body>,
                "the body of a bidi action is a coroutine task<Out>(context, "
                "Init, input<In>, output<Stream>), or one without Init, or a "
                "function object with one such call operator, const and no "
                "template; or a CAF actor connection_actor::behavior_type("
                "connection_actor::pointer, client_port<In, Out, Stream>, "
                "Init)");
  if constexpr (bidi_body<Body>) {
    using types = types_of_body<std::decay_t<Body>>;
    return check_json<typename types::init_type, typename types::in_type,
                      typename types::out_type, typename types::stream_type>();
  }
  return false;
}

/// Returns the value with which a connection is opened; by default `Init{}`.
template <class Init>
payload init_or_default(payload init) {
  return init ? std::move(init).template as<Init>() : payload::of(Init{});
}

/// Runs a body and makes its output a payload. Depends on the type of the
/// output only, so that actions of one type share it. As everywhere, the task
/// is moved into a temporary object, which frees its memory as soon as it has
/// ended.
template <class Out>
struct body_output {
  static task<payload> of(task<Out> body) {
    auto result = co_await task<Out>{std::move(body)};
    co_return payload::of(std::move(result));
  }

  static task<payload> of(task<> body) {
    co_await task<>{std::move(body)};
    co_return payload::of(nothing{});
  }
};

/// Kind of the bidi actions whose body is a coroutine.
template <class Body>
struct coroutine_kind : types_of_body<Body> {
  using types = types_of_body<Body>;
  using base_type = action;
  using body_type = Body;

  static payload check_init(payload init, const action&) {
    return init_or_default<typename types::init_type>(std::move(init));
  }

  static task<payload> start(const Body& body, context ctx, payload init) {
    auto& owner = access::owner(ctx);
    const auto in = access::make<input<typename types::in_type>>(owner);
    const auto out = access::make<output<typename types::stream_type>>(owner);
    if constexpr (types::takes_init) {
      using init_type = typename types::init_type;
      return body_output<typename types::out_type>::of(
        body(ctx, std::move(init).template take<init_type>(), in, out));
    } else {
      return body_output<typename types::out_type>::of(body(ctx, in, out));
    }
  }
};

/// Returns the descriptor of a bidi action with these types.
template <class Init, class In, class Out, class Stream>
std::shared_ptr<const descriptor>
describe_action(std::string kind, std::string name, std::string description) {
  return make_descriptor(std::move(kind), std::move(name),
                         std::move(description),
                         schemas_of<Init, In, Out, Stream>);
}

} // namespace tertulia::detail
