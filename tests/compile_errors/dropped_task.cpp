// SPDX-License-Identifier: BSD-3-Clause
// expect: nodiscard

#include <tertulia/task.hpp>

tertulia::task<> part();

tertulia::task<> whole() {
  part();
  co_return;
}
