// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <string>
#include <vector>

#include "output/standard_output.hpp"
#include <CLI/App.hpp>

namespace tertulia::tool {

/// First argument of the program when the script of a shell asks for
/// completions. It is in no help text.
inline constexpr const char* complete_command = "__complete";

/// Prints the words that can stand at the cursor of a command line.
/// @param root  commands with their options; no command line was parsed.
/// @param words up to the cursor, without the name of the program. The last one
///              is the word at the cursor, as far as it has been typed.
void complete(const CLI::App& root, std::vector<std::string> words, output& to);

} // namespace tertulia::tool
