// SPDX-License-Identifier: BSD-3-Clause

#include "whole_arguments.hpp"

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace tertulia::tool {

namespace {

constexpr char bracket = '[';

/// Returns the position of the value in an argument: `VALUE`, `--option=VALUE`,
/// `-oVALUE`.
std::size_t value_of(std::string_view argument) {
  if (argument.starts_with("--"))
    return std::min(argument.find('='), argument.size() - 1) + 1;
  return argument.starts_with('-') ? std::min<std::size_t>(2, argument.size())
                                   : 0;
}

} // namespace

std::vector<std::string> mark_whole(int argc, const char* const* argv) {
  std::vector<std::string> result{argv, argv + argc};
  for (auto& x : result)
    if (std::string_view{x}.substr(value_of(x)).starts_with(bracket))
      x += ' ';
  return result;
}

void take_whole(CLI::App& tree) {
  for (auto* x : tree.get_options())
    x->transform([](std::string value) {
      if (value.starts_with(bracket))
        value.pop_back();
      return value;
    });
  for (auto* x : tree.get_subcommands([](const CLI::App*) { return true; }))
    take_whole(*x);
}

} // namespace tertulia::tool
