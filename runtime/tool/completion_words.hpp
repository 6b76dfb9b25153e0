// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <string>
#include <vector>

namespace tertulia::tool {

/// What can be typed where a value is expected.
enum class value_kind { none, file, session };

/// One option of a command.
struct option_words {
  /// `--agent` and `-a`.
  std::vector<std::string> names;
  std::string description;
  bool takes_value = false;
  value_kind value = value_kind::none;
};

/// A command of the tree, as shells need to know it.
struct command_words {
  /// Its names from the first below the root, blanks in between; empty for the
  /// root.
  std::string path;
  std::string description;
  /// Names and descriptions of those below it.
  std::vector<std::pair<std::string, std::string>> commands;
  std::vector<option_words> options;
  /// What stands where no option does, in order.
  std::vector<value_kind> positionals;
};

/// All commands, each before those below it.
using command_list = std::vector<command_words>;

/// Each returns a script for its shell.
[[nodiscard]] std::string bash_completion(const command_list& x);
[[nodiscard]] std::string zsh_completion(const command_list& x);
[[nodiscard]] std::string fish_completion(const command_list& x);

} // namespace tertulia::tool
