// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <cstdlib>

#include "support/sanitized.hpp"

namespace tertulia::test {

/// Returns how often, or in which steps, a test repeats something: `usual` in
/// `make test`, `all` in a campaign, which the environment variable
/// TERTULIA_CAMPAIGN asks for and which takes many times as long.
/// @param slow the value under a sanitizer.
template <class T>
T by_effort(T slow, T usual, T all) {
  static const auto campaign = std::getenv("TERTULIA_CAMPAIGN") != nullptr;
  return campaign ? all : sanitized ? slow : usual;
}

} // namespace tertulia::test
