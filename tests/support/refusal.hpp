// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/json.hpp>
#include <tertulia/status.hpp>

#include <string>
#include <type_traits>
#include <utility>

#include "support/has.hpp"
#include <gtest/gtest.h>

namespace tertulia::test {

/// Returns the error that `f` throws; `ok` if it does not throw.
template <class F>
status_error error_of(F&& f) {
  try {
    (void)f();
  } catch (const status_error& e) {
    return e;
  }
  return {errc::ok, "nothing was thrown"};
}

template <class F>
errc code_from(F&& f) {
  return error_of(std::forward<F>(f)).code();
}

/// Returns an error, or the one that a function throws, as a text:
/// `not_found: no such thing`.
template <class X>
std::string error_text(X&& x) {
  if constexpr (std::is_convertible_v<X, const status_error&>)
    return std::string{to_string(x.code())} + ": " + x.message();
  else
    return error_text(error_of(std::forward<X>(x)));
}

/// Returns the message of the `invalid_argument` that `f` must throw.
template <class F>
std::string refusal(F&& f) {
  try {
    f();
  } catch (const status_error& e) {
    EXPECT_EQ(e.code(), errc::invalid_argument);
    return e.message();
  }
  return "nothing was refused";
}

template <class T>
std::string refusal_to_read(const std::string& text) {
  return refusal([&] { (void)parse_json<T>(text); });
}

template <class T>
std::string refusal_to_write(const T& x) {
  return refusal([&] { (void)to_json_text(x); });
}

} // namespace tertulia::test
