// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <concepts>
#include <type_traits>
#include <utility>

namespace tertulia::detail {

template <class T, class... Ts>
concept brace_constructible_from = requires(Ts&&... xs) {
  T{std::forward<Ts>(xs)...};
};

/// A `T` that can be built from the arguments: by a constructor, or as an
/// aggregate, which not every compiler supports in `std::constructible_from`.
template <class T, class... Ts>
concept buildable_from
  = std::constructible_from<T, Ts...> || brace_constructible_from<T, Ts...>;

/// Builds a `T` from the arguments.
template <class T, class... Ts>
requires buildable_from<T, Ts...> T build(Ts&&... xs) {
  if constexpr (std::constructible_from<T, Ts...>)
    return T(std::forward<Ts>(xs)...);
  else
    return T{std::forward<Ts>(xs)...};
}

// -- temporaries inside a co_await --------------------------------------------

/// True if the compiler moves temporaries of a `co_await` expression into the
/// frame by copying their bytes if they were made without a constructor, and
/// then destroys both copies. g++ 12 does, clang does not.
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ < 13
inline constexpr bool copies_bytes_of_temporaries = true;
#else
inline constexpr bool copies_bytes_of_temporaries = false;
#endif

/// True if values of a type may be made without a constructor: an aggregate, or
/// a lambda with captures. The language cannot identify a lambda, but one with
/// captures has neither a default constructor nor an assignment.
template <class T>
inline constexpr bool made_without_constructor
  = std::is_aggregate_v<
      T> || (std::is_class_v<T> && !std::is_default_constructible_v<T> && !std::is_copy_assignable_v<T> && !std::is_move_assignable_v<T>);

/// An argument, as `T&&` deduces it, that remains intact in a `co_await`. A
/// moved variable cannot be distinguished from a temporary.
template <class T>
concept survives_await
  = !copies_bytes_of_temporaries
    || std::is_lvalue_reference_v<
      T> || std::is_trivially_destructible_v<std::remove_cvref_t<T>> || !made_without_constructor<std::remove_cvref_t<T>>;

/// Stops the compiler at arguments that it would destroy twice. Every awaitable
/// operation that takes a function or a value calls this.
template <class... Ts>
consteval void check_awaited_arguments() {
  static_assert(
    (survives_await<Ts> && ...),
    "g++ before version 13 destroys such a temporary of a co_await twice: give "
    "the function or value a name and pass that, without std::move; or capture "
    "by reference; or pass the arguments that the value is made of");
}

} // namespace tertulia::detail
