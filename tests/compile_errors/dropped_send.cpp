// SPDX-License-Identifier: BSD-3-Clause
// expect: nodiscard

#include <tertulia/output.hpp>

tertulia::task<> report(tertulia::output<int> out) {
  out.send(1);
  co_return;
}
