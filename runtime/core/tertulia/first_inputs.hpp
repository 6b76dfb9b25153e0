// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/detail/option_family.hpp>
#include <tertulia/payload.hpp>

#include <concepts>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

// Options of a client for inputs that travel with its opening:
//
//   flow.stream_bidi(with_all_inputs("hello")).output()
//
// Design: docs/engine.md#clients.

namespace tertulia {

/// First inputs of the run, which travel with the opening: that saves a round
/// trip. The window of inputs is at least their number. If the session knows
/// the turn of `with_turn_id`, which begins with one of them, they are dropped.
/// A thread or a body that attaches to a run sends its inputs itself.
///
/// @errors the opening fails with `invalid_argument` for an input that the
///         action does not accept, and for several with `with_turn_id`; for an
///         actor `open` throws it if the action belongs to this process. If the
///         answer to the opening is lost, or comes too late, the inputs may be
///         taken nevertheless.
template <class T>
struct with_inputs {
  using in_type = T;

  template <std::convertible_to<T>... More>
  explicit with_inputs(T first, More... more) {
    inputs.reserve(1 + sizeof...(more));
    inputs.push_back(payload::of(std::move(first)));
    (inputs.push_back(payload::of(T(std::move(more)))), ...);
  }

  template <class Init>
  void apply(client_options<Init>& to) const {
    to.inputs = inputs;
  }

  std::vector<payload> inputs;
};

/// All inputs of the run: as `with_inputs`, and the input is closed behind
/// them.
template <class T>
struct with_all_inputs : with_inputs<T> {
  using with_inputs<T>::with_inputs;

  template <class Init>
  void apply(client_options<Init>& to) const {
    with_inputs<T>::apply(to);
    to.closes = true;
  }
};

template <class... More>
with_inputs(const char*, More...) -> with_inputs<std::string>;

template <class T, class... More>
with_inputs(T, More...) -> with_inputs<T>;

template <class... More>
with_all_inputs(const char*, More...) -> with_all_inputs<std::string>;

template <class T, class... More>
with_all_inputs(T, More...) -> with_all_inputs<T>;

namespace detail {

/// Returns whether an option has inputs of another type than an action.
template <class Option, class In>
consteval bool has_other_inputs() {
  if constexpr (requires { typename Option::in_type; })
    return !std::is_same_v<typename Option::in_type, In>;
  else
    return false;
}

} // namespace detail

} // namespace tertulia
