// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/json_value.hpp>

#include <string>

// One line describes a struct. Its JSON form and schema and its support by CAF
// follow from that line, and for structs of this library `==` as well:
//
//   struct order {
//     std::string article;
//     double unit_price = 0;
//     std::optional<int> pieces;
//   };
//   BOOST_DESCRIBE_STRUCT(order, (), (article, unit_price, pieces))
//
//   enum class colour { dark_red, blue };
//   BOOST_DESCRIBE_ENUM(colour, dark_red, blue)
//
// Put the line in the namespace of the type; the first list names described
// bases. <tertulia/json_value.hpp> then reads and writes the type,
// <tertulia/schema.hpp> returns its JSON Schema, and with
// <tertulia/inspect.hpp> CAF can send and print it. omitted_when_empty lists
// members that are left out while they are empty. refuses_unknown_members makes
// the reader refuse members that the struct does not have.
//
// A class template needs another line, inside the class:
//
//   BOOST_DESCRIBE_CLASS(page, (), (items, next), (), ())

namespace tertulia {

/// Compares all members of a described struct of this library. Argument-
/// dependent lookup finds it for types in `tertulia` and `tertulia::ai` only;
/// an `operator==` written for a type takes precedence.
template <described T>
[[nodiscard]] bool operator==(const T& x, const T& y) {
  return detail::equal_members(x, y, detail::members_of<T>{});
}

/// Returns the name of a described enumerator on the wire, or `unknown` for a
/// value without a name.
template <detail::described_enum T>
[[nodiscard]] std::string to_string(T x) {
  auto name = detail::quoted_name(x);
  if (name.empty())
    return "unknown";
  return std::string{name.substr(1, name.size() - 2)};
}

// Lets argument-dependent lookup find them for types such as `ai::part` and
// `ai::role`.
namespace ai {

using tertulia::operator==;
using tertulia::to_string;

} // namespace ai

} // namespace tertulia
