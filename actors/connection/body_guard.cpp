// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/detail/body_guard.hpp>
#include <tertulia/detail/send_here.hpp>

#include <caf/actor_cast.hpp>
#include <caf/system_messages.hpp>

namespace tertulia::detail {

body_guard::~body_guard() {
  // send_exit would overtake the cancel that was sent before.
  send_here(caf::actor_cast<caf::actor>(body_),
            caf::exit_msg{owner_.self()->address(), caf::exit_reason::kill});
}

} // namespace tertulia::detail
