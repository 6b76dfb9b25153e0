// SPDX-License-Identifier: BSD-3-Clause
// expect: open takes a handle, such as bidi_flow<...>

#include <tertulia/testing.hpp>

struct fixture : tertulia::testing::deterministic_runtime {
  void talk() {
    auto client = open("echo");
  }
};
