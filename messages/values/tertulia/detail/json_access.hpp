// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/detail/json_path.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <type_traits>

// Access to documents without the definition of `json`: the typed conversion
// needs no more, so a source that has no documents of its own does not compile
// nlohmann/json.hpp.

namespace tertulia::detail {

/// Kind of a document.
enum class json_kind {
  null,
  boolean,
  integer,
  floating, ///< A number with a point or an exponent.
  string,
  array,
  object,
  other, ///< None that JSON has.
};

json_kind kind_of(const json& x) noexcept;

/// Returns the number of elements of an array or of members of an object.
std::size_t size_of(const json& x) noexcept;

/// @pre `x` is an array with more than `index` elements.
const json& element_at(const json& x, std::size_t index);

/// Returns the member of that name, null if there is none.
/// @pre `x` is an object.
const json* find_member(const json& x, std::string_view name);

/// Receiver of one member of an object.
using member_visitor
  = void(void* context, const std::string& name, const json& value);

/// @pre `x` is an object.
void visit_members(const json& x, void* context, member_visitor* visit);

/// Calls `f(name, value)` for each member of an object, in the order of their
/// names.
/// @pre `x` is an object.
template <class F>
void for_each_json_member(const json& x, F f) {
  visit_members(x, &f,
                [](void* context, const std::string& name, const json& value) {
                  (*static_cast<F*>(context))(name, value);
                });
}

} // namespace tertulia::detail
