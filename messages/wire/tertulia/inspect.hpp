// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/describe.hpp>
#include <tertulia/identifier.hpp>
#include <tertulia/status.hpp>
#include <tertulia/timestamp.hpp>

#include <caf/detail/stringification_inspector.hpp>
#include <caf/meta/load_callback.hpp>
#include <caf/meta/save_callback.hpp>
#include <caf/meta/type_name.hpp>
#include <caf/timestamp.hpp>

#include <concepts>
#include <optional>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <utility>

#include <boost/describe/enumerators.hpp>
#include <boost/mp11/algorithm.hpp>

// Inspection of values by CAF. Each header with a message includes this one.

namespace tertulia {

static_assert(std::is_same_v<timestamp, caf::timestamp>);

/// Base of described structs that CAF sends and prints member by member. The
/// members need inspection by CAF, but no JSON form, so they can be actors.
struct memberwise {};

template <class Inspector, class Kind>
typename Inspector::result_type inspect(Inspector& f, identifier<Kind>& x) {
  auto text = x.str();
  auto load = [&]() -> caf::error {
    x = identifier<Kind>{std::move(text)};
    return caf::none;
  };
  return f(text, caf::meta::load_callback(load));
}

} // namespace tertulia

namespace tertulia::detail {

/// Text that CAF prints without quotes.
struct printed_text {
  std::string text;

  friend std::string to_string(const printed_text& x) {
    return x.text;
  }
};

template <class T>
caf::error encode(const T& from, std::string& to) noexcept {
  try {
    to = to_json_text(from);
    return caf::none;
  } catch (...) {
    return current_exception_to_error();
  }
}

template <class T>
caf::error decode(const std::string& from, T& to) noexcept {
  try {
    to = parse_json<T>(from);
    return caf::none;
  } catch (...) {
    return current_exception_to_error();
  }
}

/// Returns whether a value is one of a described enumeration.
template <class Enum>
bool is_enumerator(Enum x) noexcept {
  auto result = false;
  boost::mp11::mp_for_each<boost::describe::describe_enumerators<Enum>>(
    [&](auto one) { result = result || one.value == x; });
  return result;
}

/// Inspects these members of `x`.
template <class Inspector, class T, template <class...> class List,
          class... Descriptors>
typename Inspector::result_type
inspect_members(Inspector& f, T& x, List<Descriptors...>) {
  if constexpr (std::is_same_v<Inspector,
                               caf::detail::stringification_inspector>) {
    static const auto name = type_name(typeid(T));
    return f(caf::meta::type_name(name.c_str()), x.*Descriptors::pointer...);
  } else {
    return f(x.*Descriptors::pointer...);
  }
}

/// Returns the JSON text of `x`, or the error in angle brackets: printing must
/// not fail.
template <class T>
printed_text print(const T& x) {
  try {
    return {to_json_text(x)};
  } catch (...) {
    return {'<' + to_status(current_exception_to_error()).message() + '>'};
  }
}

} // namespace tertulia::detail

namespace caf {

/// Lets CAF send and print every described struct. One that is derived from
/// `memberwise` is sent as its members, any other as one string, its canonical
/// JSON, because CAF 0.17 cannot serialise an infinity and damages NaN,
/// denormals and negative zero.
///
/// Defined in the namespace of the inspectors, so that CAF finds it for types
/// of any namespace. An `inspect` written for a type takes precedence.
///
/// @errors `invalid_argument` as `to_json_text` and `parse_json`; throws
///         nothing of its own. CAF 0.17 drops errors of the elements of a
///         `caf::message` when it sends the message to another node: encode a
///         value that may contain a NaN before sending it.
/// @threads as the inspector.
/// @design  docs/values.md#registry-and-schemas.
template <class Inspector, class T>
requires tertulia::described<T> &&(
  std::derived_from<T, tertulia::memberwise> || tertulia::json_value<T>)
  typename Inspector::result_type inspect(Inspector& f, T& x) {
  if constexpr (std::derived_from<T, tertulia::memberwise>) {
    return tertulia::detail::inspect_members(f, x,
                                             tertulia::detail::members_of<T>{});
  } else if constexpr (std::is_same_v<Inspector,
                                      detail::stringification_inspector>) {
    return f(tertulia::detail::print(x));
  } else {
    std::string text;
    return f(
      meta::save_callback([&] { return tertulia::detail::encode(x, text); }),
      text,
      meta::load_callback([&] { return tertulia::detail::decode(text, x); }));
  }
}

/// Lets CAF send and print an optional value.
/// @errors `invalid_argument` for an enumerator without a name.
template <class Inspector, class T>
typename Inspector::result_type inspect(Inspector& f, std::optional<T>& x) {
  auto is_set = x.has_value();
  auto value = x.value_or(T{});
  auto load = [&]() -> error {
    if constexpr (std::is_enum_v<T>)
      if (is_set && !tertulia::detail::is_enumerator(value))
        return tertulia::fail(tertulia::errc::invalid_argument,
                              "an enumerator is unknown");
    x = is_set ? std::optional<T>{std::move(value)} : std::nullopt;
    return none;
  };
  return f(meta::type_name("optional"), is_set, value,
           meta::load_callback(load));
}

} // namespace caf

namespace caf::detail {

// CAF's printer is in this namespace, and its lookup stops here.
using caf::inspect;

} // namespace caf::detail
