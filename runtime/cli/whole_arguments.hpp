// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <string>
#include <vector>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

namespace tertulia::tool {

// CLI11 splits a value `[a,b]` into `a` and `b` if an option takes several
// values. Here such a value is a JSON input or a label. Therefore a blank is
// appended to each value that starts with a bracket, and removed after parsing.

/// Returns the arguments of a command line, with a blank appended to each one
/// whose value starts with a bracket.
[[nodiscard]] std::vector<std::string> mark_whole(int argc,
                                                  const char* const* argv);

/// Makes all options of the tree remove that blank. Must be called when the
/// tree is complete.
void take_whole(CLI::App& tree);

} // namespace tertulia::tool
