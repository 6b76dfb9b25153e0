// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/detail/host.hpp>
#include <tertulia/detail/scope.hpp>

namespace tertulia::detail {

void wait::wake() {
  unlink();
  scope_->owner().schedule(waiting_);
}

} // namespace tertulia::detail
