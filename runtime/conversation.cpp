// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/detail/agent_action.hpp>

namespace tertulia::detail {

session_opening opening_of(const open_options& options,
                           bool has_initial_state) {
  if (options.snapshot && has_initial_state)
    throw status_error{errc::invalid_argument,
                       "a conversation that is restored from a snapshot takes "
                       "no initial state"};
  session_opening result;
  result.session = options.session;
  result.snapshot = options.snapshot;
  result.live = options.live;
  return result;
}

} // namespace tertulia::detail
