// SPDX-License-Identifier: BSD-3-Clause
// expect: nodiscard

#include <tertulia/output.hpp>

tertulia::task<> report(tertulia::output<int> out) {
  const auto say = [&](int x) { return out.send(x); };
  say(1);
  co_return;
}
