// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/descriptor.hpp>
#include <tertulia/detail/agent_kind.hpp>

#include <fmt/format.h>

namespace tertulia::detail {

session_start plain_session_start(const conversation_action& conversation,
                                  const open_options& options,
                                  bool has_initial_state) {
  if (options.snapshot && has_initial_state)
    throw status_error{errc::invalid_argument,
                       "a conversation that is restored from a snapshot takes "
                       "no initial state"};
  if (!conversation.policy.store && options.snapshot)
    throw status_error{errc::failed_precondition,
                       fmt::format("{} has no store to restore from",
                                   conversation.info()->key)};
  if (!conversation.policy.store && options.session)
    throw status_error{
      errc::failed_precondition,
      fmt::format("{} has no store that can contain session {}",
                  conversation.info()->key, options.session.str())};
  session_start result;
  result.session = options.session;
  result.snapshot = options.snapshot;
  result.live = options.live;
  return result;
}

} // namespace tertulia::detail
