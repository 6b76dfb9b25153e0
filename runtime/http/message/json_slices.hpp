// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <cstddef>
#include <string_view>

// Values in the text of a JSON document, found without reading it: what a run
// sends is passed on as it is, or with another value around it. Text that is
// not JSON has some values or none.

namespace tertulia::web {

/// Returns the end of the value that begins at `from`; that of the text if it
/// is cut off.
[[nodiscard]] std::size_t end_of_value(std::string_view text,
                                       std::size_t from) noexcept;

/// Returns a text without the white space around it.
[[nodiscard]] std::string_view trimmed(std::string_view text) noexcept;

/// Calls a function with each value of an array.
template <class Function>
void for_each_element(std::string_view array, Function fn) {
  array = trimmed(array);
  if (!array.starts_with('['))
    return;
  for (std::size_t i = 1; i < array.size();) {
    const auto end = end_of_value(array, i);
    if (const auto value = trimmed(array.substr(i, end - i)); !value.empty())
      fn(value);
    i = end + 1; // behind a comma, or the bracket
  }
}

/// Calls a function with the name and the value of each member of an object.
/// Names are as in the text, without their quotation marks.
template <class Function>
void for_each_member(std::string_view object, Function fn) {
  object = trimmed(object);
  if (!object.starts_with('{'))
    return;
  for (std::size_t i = 1; i < object.size();) {
    const auto colon = end_of_value(object, i);
    const auto end = end_of_value(object, colon + 1);
    const auto name = trimmed(object.substr(i, colon - i));
    if (end >= object.size() || name.size() < 2)
      return; // there is no other one, or it is cut off
    fn(name.substr(1, name.size() - 2),
       trimmed(object.substr(colon + 1, end - colon - 1)));
    i = end + 1;
  }
}

/// Returns the value of a member; empty if there is none.
[[nodiscard]] std::string_view member_in(std::string_view object,
                                         std::string_view name) noexcept;

} // namespace tertulia::web
