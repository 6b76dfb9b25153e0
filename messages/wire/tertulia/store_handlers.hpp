// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/protocol.hpp>

#include <caf/detail/type_list.hpp>
#include <caf/replies_to.hpp>
#include <caf/response_type.hpp>
#include <caf/result.hpp>
#include <caf/typed_behavior.hpp>

#include <utility>

namespace tertulia {

namespace detail {

template <class Actor, class... In, class... Out, class Fn, class... More>
typename Actor::behavior_type handle_verbs(
  caf::detail::type_list<
    caf::typed_mpi<caf::detail::type_list<In>, caf::output_tuple<Out>>...>,
  Fn fn, More... more) {
  return {[fn](In& x) -> caf::result<Out> { return fn(std::move(x)); }...,
          std::move(more)...};
}

} // namespace detail

/// Reply of a store to a verb.
template <class Verb>
using store_reply_t = caf::detail::tl_head_t<
  caf::response_type_t<managed_store::signatures, Verb>>;

/// Returns the behavior of a store: calls a function with each verb of the
/// protocol.
///
/// @param fn   function that takes any verb and returns the result for it.
/// @param more handlers of the messages that `Actor` has beside the verbs.
template <class Actor = managed_store, class Fn, class... More>
typename Actor::behavior_type handle_verbs(Fn fn, More... more) {
  return detail::handle_verbs<Actor>(managed_store::signatures{}, fn,
                                     std::move(more)...);
}

} // namespace tertulia
