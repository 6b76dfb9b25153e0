// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/detail/letter_box.hpp>

#include <caf/send.hpp>

#include <fmt/format.h>

namespace tertulia::detail {

void raise_unreceived(std::size_t count) {
  throw status_error{errc::resource_exhausted,
                     fmt::format("the body has not received {} messages",
                                 count)};
}

letter_boxes::~letter_boxes() {
  for (const auto& x : entries_)
    caf::anon_send_exit(x.address, caf::exit_reason::user_shutdown);
}

} // namespace tertulia::detail
