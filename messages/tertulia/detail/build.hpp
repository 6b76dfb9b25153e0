// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <concepts>
#include <utility>

namespace tertulia::detail {

template <class T, class... Ts>
concept brace_constructible_from = requires(Ts&&... xs) {
  T{std::forward<Ts>(xs)...};
};

/// Whether a `T` can be made of the arguments: by a constructor or as an
/// aggregate, which `std::constructible_from` does not see with every compiler.
template <class T, class... Ts>
concept buildable_from
  = std::constructible_from<T, Ts...> || brace_constructible_from<T, Ts...>;

/// Makes a `T` of the arguments. Whatever sends a value takes these and builds
/// it here: g++ 12 miscompiles a braced aggregate inside a `co_await`.
template <class T, class... Ts>
requires buildable_from<T, Ts...> T build(Ts&&... xs) {
  if constexpr (std::constructible_from<T, Ts...>)
    return T(std::forward<Ts>(xs)...);
  else
    return T{std::forward<Ts>(xs)...};
}

} // namespace tertulia::detail
