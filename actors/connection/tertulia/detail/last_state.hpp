// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/json_value.hpp>
#include <tertulia/payload.hpp>

#include <optional>
#include <utility>

namespace tertulia::detail {

/// Type of the state in the output of a conversation.
template <class Out>
struct state_of {};

template <class Out>
requires requires(Out& x) {
  x.state;
}
struct state_of<Out> {
  using type = decltype(Out::state);
};

template <>
struct state_of<json> {
  using type = json;
};

/// An output type that may be that of a conversation.
template <class Out>
concept has_state = requires {
  typename state_of<Out>::type;
};

/// Returns the state that came to a client with an error; empty without one.
/// @errors throws `invalid_argument` if it is of another shape.
template <has_state Out>
std::optional<typename state_of<Out>::type> take_state(payload x) {
  if (!x)
    return std::nullopt;
  return std::move(x).template take<typename state_of<Out>::type>();
}

} // namespace tertulia::detail
