// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/detail/affinity.hpp>

namespace tertulia::detail {

namespace {

thread_local affinity_ptr here;

} // namespace

const affinity_ptr& affinity_here() noexcept {
  return here;
}

affinity_scope::affinity_scope(affinity_ptr x) noexcept
  : before_(std::exchange(here, std::move(x))) {}

affinity_scope::~affinity_scope() {
  here = std::move(before_);
}

} // namespace tertulia::detail
