// SPDX-License-Identifier: BSD-3-Clause
// expect gcc: cannot convert 'const char [5]' to
// expect clang: no viable conversion from 'const char

#include <tertulia/agent_responder.hpp>

tertulia::task<> end(tertulia::agent_responder<int> out) {
  co_await out.end_turn("stop");
}
