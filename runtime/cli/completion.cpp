// SPDX-License-Identifier: BSD-3-Clause

#include <string>
#include <string_view>

#include "commands.hpp"
#include "completion_words.hpp"

namespace tertulia::tool {

namespace {

value_kind kind_of(std::string_view name) {
  if (name == "FILE" || name == "DIR")
    return value_kind::file;
  if (name == "SESSION" || name == "SNAPSHOT" || name == "BEFORE"
      || name == "AFTER")
    return value_kind::session;
  return value_kind::none;
}

/// Returns the first sentence, without characters that are special in a shell.
std::string brief(const std::string& text) {
  std::string result;
  for (const char c : text.substr(0, text.find_first_of(".;:")))
    if (std::string_view{"'\"\\`$[]"}.find(c) == std::string_view::npos)
      result += c;
  return result;
}

void collect(command_list& to, const CLI::App& x, const std::string& path) {
  command_words result;
  result.path = path;
  result.description = brief(x.get_description());
  for (const auto* option : x.get_options()) {
    if (option->get_positional()) {
      result.positionals.push_back(kind_of(option->get_name(true)));
      continue;
    }
    option_words words;
    for (const auto& name : option->get_snames())
      words.names.push_back('-' + name);
    for (const auto& name : option->get_lnames())
      words.names.push_back("--" + name);
    words.description = brief(option->get_description());
    words.takes_value = option->get_items_expected_max() > 0;
    words.value = kind_of(option->get_type_name());
    result.options.push_back(std::move(words));
  }
  const auto below = x.get_subcommands([](const CLI::App*) { return true; });
  for (const auto* y : below)
    result.commands.emplace_back(y->get_name(), brief(y->get_description()));
  to.push_back(std::move(result));
  for (const auto* y : below)
    collect(to, *y, path.empty() ? y->get_name() : path + ' ' + y->get_name());
}

} // namespace

void add_completion(CLI::App& root, command& chosen) {
  auto& x = *root.add_subcommand(
    "completion", "Print a script that teaches a shell to complete tertulia");
  x.require_subcommand(1);
  struct shell {
    const char* name;
    const char* description;
    std::string (*script)(const command_list&);
  };
  for (const auto& y :
       {shell{"bash", "For ~/.bashrc: source <(tertulia completion bash)",
              bash_completion},
        shell{"zsh",
              "For ~/.zshrc, below compinit: source <(tertulia "
              "completion zsh)",
              zsh_completion},
        shell{"fish", "For config.fish: tertulia completion fish | source",
              fish_completion}})
    x.add_subcommand(y.name, y.description)
      ->callback([&root, &chosen, script = y.script] {
        chosen = [&root, script](tool& t) {
          command_list all;
          collect(all, root, {});
          t.out().write(script(all));
          return exit_code::fine;
        };
      });
}

} // namespace tertulia::tool
