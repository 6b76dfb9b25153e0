// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <string>
#include <vector>

namespace tertulia::tool {

/// Kind of value that a shell can complete.
enum class value_kind { none, file, session };

/// An option of a command.
struct option_words {
  /// `--agent` and `-a`.
  std::vector<std::string> names;
  std::string description;
  bool takes_value = false;
  value_kind value = value_kind::none;
};

/// A command of the tree, as input for the completion scripts.
struct command_words {
  /// Names from the first command below the root, separated by blanks; empty
  /// for the root.
  std::string path;
  std::string description;
  /// Names and descriptions of its subcommands.
  std::vector<std::pair<std::string, std::string>> commands;
  std::vector<option_words> options;
  /// Kinds of the positional arguments, in order.
  std::vector<value_kind> positionals;
};

/// All commands, each before its subcommands.
using command_list = std::vector<command_words>;

/// Each function returns the completion script of a shell.
[[nodiscard]] std::string bash_completion(const command_list& x);
[[nodiscard]] std::string zsh_completion(const command_list& x);
[[nodiscard]] std::string fish_completion(const command_list& x);

} // namespace tertulia::tool
