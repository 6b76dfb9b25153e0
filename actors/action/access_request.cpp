// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/access_request.hpp>

namespace tertulia::detail {

bool allows(const access_rule& rule, const access_request& x) noexcept {
  try {
    return !rule || rule(x);
  } catch (...) {
    return false;
  }
}

} // namespace tertulia::detail
