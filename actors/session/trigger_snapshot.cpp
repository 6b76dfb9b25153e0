// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/detail/access.hpp>
#include <tertulia/detail/session_calls.hpp>
#include <tertulia/trigger_snapshot.hpp>

namespace tertulia {

task<snapshot_id> trigger_snapshot(context ctx, snapshot_event event) {
  if (event != snapshot_event::tool_iteration_end)
    throw status_error{errc::invalid_argument,
                       "the end of a turn or of an invocation is not an event "
                       "that can be triggered"};
  if (!detail::access::owner(ctx).link().owner)
    co_return snapshot_id{};
  co_return co_await detail::take_snapshot(ctx, event);
}

} // namespace tertulia
