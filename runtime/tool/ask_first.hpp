// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <string>

#include "tool.hpp"

namespace tertulia::tool {

/// Asks somebody at a terminal whether something is to be done that cannot be
/// taken back.
///
/// @param question what would be done, as a question.
/// @param yes      whether the answer was given on the command line.
/// @errors throws a failure of usage if nobody can be asked, or if the output
///         is for a program; one with `cancelled` if the answer is no.
void ask_first(const tool& t, const std::string& question, bool yes);

} // namespace tertulia::tool
