// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/json.hpp>
#include <tertulia/status.hpp>

#include <string>

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
