// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/detail/letter_box.hpp>

#include <caf/send.hpp>

namespace tertulia::detail {

letter_boxes::~letter_boxes() {
  for (const auto& x : entries_)
    caf::anon_send_exit(x.address, caf::exit_reason::user_shutdown);
}

} // namespace tertulia::detail
