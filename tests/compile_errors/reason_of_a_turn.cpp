// SPDX-License-Identifier: BSD-3-Clause
// expect gcc: cannot convert 'const char [5]' to
// expect clang: no viable conversion from 'const char

#include <tertulia/responder.hpp>

tertulia::task<> end(tertulia::responder<int> out) {
  co_await out.end_turn("stop");
}
