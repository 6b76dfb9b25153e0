// SPDX-License-Identifier: BSD-3-Clause
// expect: a failing_store fails requests of the protocol, such as

#include <tertulia/testing/failing_store.hpp>

void plan(tertulia::testing::failing_store& store) {
  store.fail_next<tertulia::session_ref>(1, tertulia::errc::unavailable);
}
