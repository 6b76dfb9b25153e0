// SPDX-License-Identifier: BSD-3-Clause

#include "completion.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <utility>

#include "chat/chat_models.hpp"
#include "commands.hpp"
#include "output/shown_text.hpp"
#include "output/units.hpp"
#include "sessions/finder.hpp"

namespace tertulia::tool {

namespace {

/// Maximum number of sessions and of snapshots to offer.
constexpr std::size_t most_names = 100;

/// The scripts of the shells pass the words of a command line up to the cursor
/// to `__complete` and offer what it prints: `files` if the shell has to
/// complete the name of a file, or `words` and then one word per line, each
/// followed by a tab and a description.
constexpr const char* bash_script = R"SH(# bash completion of tertulia

_tertulia() {
  # COMP_WORDS is also split at colons, which ids may contain.
  local line=${COMP_LINE:0:COMP_POINT} words cur i
  read -ra words <<<"$line"
  [[ $line == *[[:space:]] ]] && words+=('')
  cur=${words[-1]}
  mapfile -t COMPREPLY < <(
    "${words[0]/#\~\//$HOME/}" __complete "${words[@]:1}" 2>/dev/null)
  if [[ ${COMPREPLY[0]} == files ]]; then
    cur=${cur#--*=}
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -f -- "$cur")
  else
    unset 'COMPREPLY[0]'
    for i in "${!COMPREPLY[@]}"; do
      printf -v 'COMPREPLY[i]' %q "${COMPREPLY[i]%%$'\t'*}"
    done
  fi
  # What bash replaces begins behind the last character at which it splits.
  local rest=${cur##*["$COMP_WORDBREAKS"]}
  COMPREPLY=("${COMPREPLY[@]#"${cur%"$rest"}"}")
}

complete -F _tertulia tertulia
)SH";

constexpr const char* zsh_script = R"SH(#compdef tertulia

_tertulia() {
  local -a lines offers
  local line
  lines=("${(@f)$(${~words[1]} __complete "${(@Q)words[2,CURRENT-1]}" \
    "${(Q)PREFIX}" 2>/dev/null)}")
  if [[ $lines[1] == files ]]; then
    compset -P '--*='
    _files
  else
    for line in "${(@)lines[2,-1]}"; do
      offers+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}")
    done
    _describe word offers
  fi
}

compdef _tertulia tertulia
)SH";

constexpr const char* fish_script = R"SH(# fish completion of tertulia

function __tertulia_complete
    set -l before (commandline -opc)
    set -l word (commandline -ct)
    set -l lines ($before[1] __complete $before[2..-1] "$word" 2>/dev/null)
    if test "$lines[1]" = files
        set -l option (string match -r -- '^--[^=]*=' $word)
        set -l name (string replace -r -- '^--[^=]*=' '' $word)
        string join -- \n "$option"(__fish_complete_path "$name")
    else
        string join -- \n $lines[2..-1]
    end
end

complete -c tertulia -f -a '(__tertulia_complete)'
)SH";

/// Returns the first sentence.
std::string brief(const std::string& text) {
  return one_line(text.substr(0, text.find_first_of(".;:")));
}

bool takes_value(const CLI::Option& x) {
  return x.get_items_expected_max() > 0;
}

/// Command line up to the cursor.
class completion {
public:
  completion(const CLI::App& root, std::vector<std::string> words)
    : command_(&root) {
    if (!words.empty()) {
      word_ = std::move(words.back());
      words.pop_back();
    }
    for (auto& x : words)
      read(std::move(x));
  }

  void print(output& to) {
    const auto end = word_.find('=');
    if (option_ == nullptr && word_.starts_with("--")
        && end != std::string::npos) {
      option_ = option(word_.substr(0, end));
      prefix_ = word_.substr(0, end + 1);
      word_.erase(0, end + 1);
    }
    if (option_ != nullptr)
      add_values(*option_);
    else if (prefix_.empty() && word_.starts_with('-'))
      add_options();
    else if (prefix_.empty())
      add_arguments();
    to.line(is_file_ ? "files" : "words");
    for (const auto& [word, description] : words_) {
      auto line = prefix_ + word;
      line.append("\t").append(description);
      to.line(line);
    }
  }

private:
  // -- words before the cursor ------------------------------------------------

  void read(std::string word) {
    if (const auto* x = std::exchange(option_, nullptr)) {
      take(*x, std::move(word));
    } else if (word.starts_with('-')) {
      const auto end = std::min(word.find('='), word.size());
      const auto* y = option(word.substr(0, end));
      if (y == nullptr || !takes_value(*y))
        return;
      if (end == word.size())
        option_ = y;
      else
        take(*y, word.substr(end + 1));
    } else {
      const auto all = subcommands();
      const auto i = std::find_if(all.begin(), all.end(), [&](const auto* y) {
        return y->get_name() == word;
      });
      if (i != all.end())
        command_ = *i;
      else
        ++arguments_;
    }
  }

  void take(const CLI::Option& x, std::string value) {
    if (x.check_name("--agent")) {
      agent_ = std::move(value);
      return;
    }
    if (!x.check_name("--store"))
      return;
    const char* home = std::getenv("HOME");
    if (value.starts_with("~/") && home != nullptr)
      value.replace(0, 1, home);
    common_.store = std::move(value);
  }

  // -- the tree of commands ---------------------------------------------------

  [[nodiscard]] const CLI::Option* option(const std::string& name) const {
    return command_->get_option_no_throw(name);
  }

  [[nodiscard]] std::vector<const CLI::App*> subcommands() const {
    return command_->get_subcommands([](const CLI::App*) { return true; });
  }

  /// Returns the positional argument at the cursor; null if there is none.
  [[nodiscard]] const CLI::Option* next_argument() const {
    auto left = arguments_;
    for (const auto* x : command_->get_options())
      if (x->get_positional() && left-- == 0)
        return x;
    return nullptr;
  }

  // -- offers -----------------------------------------------------------------

  void add(const std::string& word, std::string description) {
    const auto has_word = [&](const auto& x) { return x.first == word; };
    if (word.starts_with(word_)
        && std::none_of(words_.begin(), words_.end(), has_word))
      words_.emplace_back(word, std::move(description));
  }

  void add_arguments() {
    const auto commands = subcommands();
    if (arguments_ == 0)
      for (const auto* x : commands)
        add(x->get_name(), brief(x->get_description()));
    if (const auto* x = next_argument(); x != nullptr && commands.empty())
      add_values(*x);
  }

  void add_options() {
    for (const auto* x : command_->get_options()) {
      for (const auto& y : x->get_lnames())
        add("--" + y, brief(x->get_description()));
      for (const auto& y : x->get_snames())
        add('-' + y, brief(x->get_description()));
    }
  }

  void add_values(const CLI::Option& x) {
    const auto kind = x.get_positional() ? x.get_name(true) : x.get_type_name();
    is_file_ = kind == "FILE" || kind == "DIR";
    if (x.check_name("--model"))
      for (const auto& y : model_kinds())
        add(y.name, y.description);
    const auto is_snapshot
      = kind == "SNAPSHOT" || kind == "BEFORE" || kind == "AFTER";
    const auto is_agent = kind == "KEY" && !x.get_positional();
    if (!is_snapshot && !is_agent && kind != "SESSION")
      return;
    common_.wait = "0s";
    tool t{common_};
    finder find{t, agent_};
    try {
      if (is_agent)
        for (const auto& y : find.agents())
          add(shown(y), "");
      else if (const auto at = word_.rfind('@');
               is_snapshot && at != std::string::npos)
        for (const auto& y : find.sessions(word_.substr(0, at)))
          add_snapshots(t, y);
      else
        add_sessions(find);
    } catch (...) {
      // A store that cannot be read has no names to offer.
    }
  }

  void add_sessions(finder& find) {
    auto all = find.sessions(word_);
    for (auto& x : find.sessions_with_prefix(word_))
      all.push_back(std::move(x));
    for (const auto& x : all)
      add(shown(x.id.str()),
          cut(one_line(x.title.empty() ? x.preview : x.title), 60));
  }

  void add_snapshots(tool& t, const session_info& x) {
    (void)t.store().each_record({x.agent, x.id}, [&](const auto& y) {
      add(name_of(y), local_time(y.created_at));
      return words_.size() < most_names;
    });
  }

  const CLI::App* command_;
  /// Option whose value is at the cursor; null if none is.
  const CLI::Option* option_ = nullptr;
  /// Number of positional arguments before the cursor.
  std::size_t arguments_ = 0;
  common_options common_;
  std::string agent_;
  /// Text before the cursor: `--option=`, and the beginning of a word.
  std::string prefix_;
  std::string word_;

  bool is_file_ = false;
  std::vector<std::pair<std::string, std::string>> words_;
};

} // namespace

void complete(const CLI::App& root, std::vector<std::string> words,
              output& to) {
  completion{root, std::move(words)}.print(to);
}

void add_completion(CLI::App& root, command& chosen) {
  auto& x = *root.add_subcommand(
    "completion", "Print a script that teaches a shell to complete tertulia");
  x.require_subcommand(1);
  struct shell {
    const char* name;
    const char* description;
    const char* script;
  };
  for (const auto& y :
       {shell{"bash", "For ~/.bashrc: source <(tertulia completion bash)",
              bash_script},
        shell{"zsh",
              "For ~/.zshrc, below compinit: source <(tertulia "
              "completion zsh)",
              zsh_script},
        shell{"fish", "For config.fish: tertulia completion fish | source",
              fish_script}})
    x.add_subcommand(y.name, y.description)
      ->callback([&chosen, script = y.script] {
        chosen = [script](tool& t) {
          t.out().write(script);
          return exit_code::fine;
        };
      });
}

} // namespace tertulia::tool
