// SPDX-License-Identifier: BSD-3-Clause

#include "completion_words.hpp"

namespace tertulia::tool {

namespace {

std::string action_of(value_kind x) {
  switch (x) {
    case value_kind::file: return "file:_files";
    case value_kind::session: return "session:__tertulia_session_ids";
    case value_kind::none: break;
  }
  return "value: ";
}

std::string function_of(const std::string& path) {
  std::string result = "_tertulia";
  for (const char c : path.empty() ? "" : '_' + path)
    result += c == ' ' ? '_' : c;
  return result;
}

std::string specification(const option_words& x) {
  std::string result;
  for (const auto& name : x.names) {
    result += " \\\n    '" + name;
    // zsh specs: --store=FILE and --store FILE; -o FILE
    if (x.takes_value && name.starts_with("--"))
      result += '=';
    result += '[' + x.description + ']';
    if (x.takes_value)
      result += ':' + action_of(x.value);
    result += '\'';
  }
  return result;
}

} // namespace

std::string zsh_completion(const command_list& x) {
  std::string result = R"(#compdef tertulia

__tertulia_session_ids() {
  local store=${TERTULIA_STORE-} ids
  (( ${+opt_args[--store]} )) && store=${(Q)opt_args[--store]}
  [[ -f $store ]] || return 1
  ids=("${(@f)$(_call_program sessions tertulia sessions list --quiet \
    --wait 0s --store ${(q)store})}")
  compadd -a ids
}

)";
  for (const auto& y : x) {
    std::string options;
    for (const auto& option : y.options)
      options += specification(option);
    result += function_of(y.path) + "() {\n";
    if (y.commands.empty()) {
      result += "  _arguments" + options;
      std::size_t place = 1;
      for (const auto kind : y.positionals)
        result += " \\\n    '" + std::to_string(place++) + ':' + action_of(kind)
                  + '\'';
      result += "\n}\n\n";
      continue;
    }
    result += "  local line state commands\n  commands=(\n";
    for (const auto& [name, description] : y.commands)
      result.append("    '").append(name).append(":").append(description
                                                             + "'\n");
    result
      += "  )\n  _arguments -C" + options
         + " \\\n    '1:command:->command' \\\n    '*::argument:->argument'"
           "\n  case $state in\n    command) _describe command commands "
           ";;\n    argument)\n      case $line[1] in\n";
    for (const auto& [name, description] : y.commands)
      result += "        " + name + ") "
                + function_of(y.path.empty() ? name : y.path + ' ' + name)
                + " ;;\n";
    result += "      esac\n      ;;\n  esac\n}\n\n";
  }
  result += "compdef _tertulia tertulia\n";
  return result;
}

} // namespace tertulia::tool
