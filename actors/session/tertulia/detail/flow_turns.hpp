// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/ai/conversation.hpp>
#include <tertulia/context.hpp>
#include <tertulia/task.hpp>

#include <caf/detail/unique_function.hpp>

namespace tertulia::detail {

/// Turn function of a session flow, of any type.
template <class Result>
using turn_function
  = caf::detail::unique_function<task<Result>(const context&,
                                              const ai::conversation_input&)>;

/// Runs the turns of a session flow; see `ai::flow_session::run_turns`.
task<> run_flow_turns(context ctx, turn_function<void> turn);

/// Runs the turns of a session flow whose turn function returns the reason for
/// the end of its turn; see `ai::flow_session::run_turns`.
task<> run_flow_turns(context ctx, turn_function<ai::finish_reason> turn);

} // namespace tertulia::detail
