// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/detail/send_here.hpp>

namespace tertulia::detail {

namespace {

thread_local caf::execution_unit* unit = nullptr;

} // namespace

caf::execution_unit* execution_here() noexcept {
  return unit;
}

void set_execution_here(caf::execution_unit* x) noexcept {
  unit = x;
}

} // namespace tertulia::detail
