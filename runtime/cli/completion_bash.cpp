// SPDX-License-Identifier: BSD-3-Clause

#include <string_view>

#include "completion_words.hpp"

namespace tertulia::tool {

namespace {

// Takes the words from COMP_LINE, because bash also splits at colons, which ids
// may contain.
constexpr const char* before_tables = R"SH(# bash completion of tertulia

_tertulia_sessions() {
  local store=${TERTULIA_STORE-} agent=() word next=
  for word in "${words[@]}"; do
    case $next in
      --store) store=$word ;;
      --agent) agent=(--agent "$word") ;;
    esac
    next=
    case $word in
      --store | --agent) next=$word ;;
      --store=*) store=${word#*=} ;;
      --agent=*) agent=(--agent "${word#*=}") ;;
    esac
  done
  store=${store/#\~\//$HOME/}
  [[ -f $store ]] || return 0
  "$program" sessions list --quiet --wait 0s --store "$store" "${agent[@]}" \
    2>/dev/null
}

_tertulia() {
  local line=${COMP_LINE:0:COMP_POINT} program words cur word path= kind=
  local commands options values positionals skip= given=0 reply i
  read -ra words <<<"$line"
  cur=${line##*[[:space:]]}
  program=${words[0]/#\~\//$HOME/}
  words=("${words[@]:1}")
  if [[ -n $cur ]]; then
    unset 'words[-1]'
  fi
  _tertulia_table
  for word in "${words[@]}"; do
    if [[ -n $skip ]]; then
      skip=
    elif [[ " $values " == *" $word="* ]]; then
      skip=$word
    elif [[ $word != -* ]]; then
      if [[ " $commands " == *" $word "* ]]; then
        path=${path:+$path }$word
        _tertulia_table
      else
        given=$((given + 1))
      fi
    fi
  done
  COMPREPLY=()
  if [[ -z $skip && $cur == --*=* ]]; then
    skip=${cur%%=*}
    cur=${cur#*=}
  fi
  if [[ -n $skip ]]; then
    kind=" $values "
    kind=${kind##* "$skip"=}
    kind=${kind%% *}
  elif [[ $cur == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$options" -- "$cur")
  elif [[ -n $commands ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$commands" -- "$cur")
  else
    read -ra positionals <<<"$positionals"
    kind=${positionals[given]-}
  fi
  case $kind in
    file)
      compopt -o filenames 2>/dev/null
      mapfile -t COMPREPLY < <(compgen -f -- "$cur")
      ;;
    session)
      while IFS= read -r reply; do
        [[ $reply == "$cur"* ]] && COMPREPLY+=("$(printf %q "$reply")")
      done < <(_tertulia_sessions)
      ;;
  esac
  # What bash replaces begins behind the last character at which it splits.
  local rest=${cur##*["$COMP_WORDBREAKS"]}
  for i in "${!COMPREPLY[@]}"; do
    COMPREPLY[i]=${COMPREPLY[i]#"${cur%"$rest"}"}
  done
}

)SH";

std::string_view name_of(value_kind x) {
  switch (x) {
    case value_kind::file: return "file";
    case value_kind::session: return "session";
    case value_kind::none: break;
  }
  return "none";
}

void add(std::string& to, std::string_view word) {
  if (!to.empty())
    to += ' ';
  to += word;
}

} // namespace

std::string bash_completion(const command_list& x) {
  std::string result = before_tables;
  result += "_tertulia_table() {\n  case $path in\n";
  for (const auto& y : x) {
    std::string commands;
    for (const auto& [name, description] : y.commands)
      add(commands, name);
    std::string options;
    std::string values;
    for (const auto& option : y.options)
      for (const auto& name : option.names) {
        add(options, name);
        if (option.takes_value) {
          add(values, name + '=');
          values += name_of(option.value);
        }
      }
    std::string positionals;
    for (const auto kind : y.positionals)
      add(positionals, name_of(kind));
    result += "    '" + y.path + "')\n      commands='" + commands;
    result += "'\n      options='" + options;
    result += "'\n      values='" + values;
    result += "'\n      positionals='" + positionals;
    result += "'\n      ;;\n";
  }
  result += "  esac\n}\n\ncomplete -F _tertulia tertulia\n";
  return result;
}

} // namespace tertulia::tool
