// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/ai/generate.hpp>
#include <tertulia/context.hpp>
#include <tertulia/task.hpp>

#include "open_turn.hpp"

namespace tertulia::ai {

/// Runs the tools of an answer that are due, at the same time, and stores their
/// responses and questions in the turn.
/// @param options, turn outlive the task.
/// @returns whether any tool was run.
/// @errors throws the cancellation of the body, and the error of a tool whose
///         failure ends the turn.
task<bool> run_calls(context ctx, const generate_options* options,
                     open_turn* turn);

} // namespace tertulia::ai
