// SPDX-License-Identifier: BSD-3-Clause

#include <algorithm>

#include "completion_words.hpp"

namespace tertulia::tool {

namespace {

/// Returns the fish condition for a command: `__tertulia_at` with its path.
std::string condition(const command_words& x) {
  return " -n '__tertulia_at \"" + x.path + "\"'";
}

} // namespace

std::string fish_completion(const command_list& x) {
  std::string result = R"(# fish completion of tertulia

function __tertulia_path
    set -l words (commandline -opc)
    set -l path
    for word in $words[2..-1]
        set -l next (string join -- ' ' $path $word)
        contains -- $next $__tertulia_paths; and set path $path $word
    end
    string join -- ' ' $path
end

function __tertulia_at
    set -l path (__tertulia_path)
    test "$path" = "$argv[1]"
end

function __tertulia_sessions
    set -l store $TERTULIA_STORE
    set -l words (commandline -opc)
    for i in (seq (count $words))
        switch $words[$i]
            case --store
                set store $words[(math $i + 1)]
            case '--store=*'
                set store (string replace -- --store= '' $words[$i])
        end
    end
    test -f "$store"; or return
    tertulia sessions list --quiet --wait 0s --store $store 2>/dev/null
end

set -g __tertulia_paths)";
  for (const auto& y : x)
    if (!y.path.empty())
      result += " '" + y.path + '\'';
  result += "\ncomplete -c tertulia -f\n";
  for (const auto& y : x) {
    const auto begin = "complete -c tertulia" + condition(y);
    for (const auto& [name, description] : y.commands)
      result.append(begin).append(" -a '").append(name).append("' -d '").append(
        description + "'\n");
    for (const auto& option : y.options) {
      result += begin;
      for (const auto& name : option.names)
        result += name.starts_with("--") ? " -l " + name.substr(2)
                                         : " -s " + name.substr(1);
      result += " -d '" + option.description + '\'';
      if (option.takes_value)
        result += option.value == value_kind::file ? " -r -F" : " -x";
      if (option.value == value_kind::session)
        result += " -a '(__tertulia_sessions)'";
      result += '\n';
    }
    const auto has = [&](value_kind kind) {
      return std::find(y.positionals.begin(), y.positionals.end(), kind)
             != y.positionals.end();
    };
    if (has(value_kind::session))
      result += begin + " -a '(__tertulia_sessions)'\n";
    if (has(value_kind::file))
      result += begin + " -F\n";
  }
  return result;
}

} // namespace tertulia::tool
