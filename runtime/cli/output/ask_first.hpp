// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <string>

#include "command_environment.hpp"

namespace tertulia::tool {

/// Asks the user at the terminal for confirmation of an irreversible action.
///
/// @param question the action, as a question.
/// @param yes      whether the confirmation was given on the command line.
/// @errors throws a usage failure if the user cannot be asked or the output is
///         JSON; a failure with `cancelled` if the answer is no.
void ask_first(const tool& t, const std::string& question, bool yes);

} // namespace tertulia::tool
