// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <string>
#include <vector>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

namespace tertulia::tool {

// CLI11 splits a value `[a,b]` into `a` and `b` wherever an option takes
// several values. Here it is an input in JSON, or a label. So a blank is put
// behind each value that begins with a bracket, and taken away when the value
// has been read.

/// Returns the arguments of a command line, each with a blank at its end if its
/// value begins with a bracket.
[[nodiscard]] std::vector<std::string> mark_whole(int argc,
                                                  const char* const* argv);

/// Has all options of the tree take that blank away. To be called when the tree
/// is complete.
void take_whole(CLI::App& tree);

} // namespace tertulia::tool
