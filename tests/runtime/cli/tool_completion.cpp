// SPDX-License-Identifier: BSD-3-Clause

// Completion of the command line in the shells themselves.

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "support/tool_store.hpp"

namespace tertulia::test::tool_completion_tests {

namespace {

bool is_installed(const std::string& shell) {
  return run_process({"sh", "-c", "command -v " + shell}).code == 0;
}

/// Completions of lines that begin with the name of the program.
struct tool_completion : a_tool {
  /// Returns what the tool itself offers for the last of the words.
  static strings of_words(strings words) {
    words.insert(words.begin(), "__complete");
    const auto result = run_bare(std::move(words));
    EXPECT_EQ(result.code, 0);
    EXPECT_EQ(result.err, "");
    return lines_of(result.out);
  }

  /// Returns what the function of bash offers, in order.
  static strings in_bash(const std::string& line) {
    return output_of({"bash", "-c", R"(
source <("$1" completion bash)
COMP_LINE=$2 COMP_POINT=${#2}
_tertulia
(( ${#COMPREPLY[@]} )) && printf '%s\n' "${COMPREPLY[@]}")",
                      "bash", TERTULIA_TOOL, TERTULIA_TOOL + (' ' + line)});
  }

  /// Returns what fish offers, with descriptions behind tabs, in the order of
  /// fish.
  strings in_fish(const std::string& line) const {
    return output_of({"env", "HOME=" + file.parent_path().string(), "fish",
                      "-N", "-c",
                      "$argv[1] completion fish | source; set PATH (dirname "
                      "$argv[1]) $PATH; complete -C \"tertulia $argv[2]\"",
                      TERTULIA_TOOL, line});
  }

  static strings output_of(strings command) {
    const auto result = run_process(std::move(command));
    EXPECT_EQ(result.err, "");
    return lines_of(result.out);
  }
};

/// An interactive shell, set up as `tertulia completion --help` says.
struct a_shell {
  const char* name;
  const char* setup_file;
  const char* setup;
  /// Starts the shell with that setup; `$1` is the folder of the file.
  const char* start;
};

std::ostream& operator<<(std::ostream& out, const a_shell& x) {
  return out << x.name;
}

struct tool_completion_shells : a_tool,
                                ::testing::WithParamInterface<a_shell> {};

} // namespace

// -- in each shell ------------------------------------------------------------

TEST_P(tool_completion_shells, completes_what_is_typed) {
  const auto& shell = GetParam();
  if (!is_installed(shell.name))
    GTEST_SKIP() << shell.name << " is not installed";
  output({"sessions", "fork", "s2", "unlike:the others"});
  const auto home = file.parent_path();
  const auto setup = home / shell.setup_file;
  std::filesystem::create_directories(setup.parent_path());
  std::ofstream{setup} << shell.setup;
  const auto programs = std::filesystem::path{TERTULIA_TOOL}.parent_path();
  tool_process process{tool_process::terminal{200},
                       {"env", "HOME=" + home.string(), "sh", "-c",
                        std::string{"PATH=$2:$PATH; "} + shell.start, "sh",
                        home.string(), programs.string()}};
  ASSERT_TRUE(process.read_until("ready> "));
  // The store, a command, an option and a session.
  process.type("tertulia --store " + (folder / "ch").string()
               + "\tsessio\tsho\t--mess\t1 unlike:t\t\r");
  ASSERT_TRUE(process.read_until("the last 1 of 2 messages"));
  process.type("exit\r");
  const auto result = process.wait();
  EXPECT_TRUE(has(result.out, "session    unlike:the others"));
}

INSTANTIATE_TEST_SUITE_P(
  shells, tool_completion_shells,
  ::testing::Values(a_shell{"bash", ".bashrc",
                            "PS1='ready> '\n"
                            "source <(tertulia completion bash)\n",
                            "exec bash --rcfile \"$1/.bashrc\" -i"},
                    a_shell{"zsh", ".zshrc",
                            "PS1='ready> '\n"
                            "autoload -U compinit; compinit -u -D\n"
                            "source <(tertulia completion zsh)\n",
                            "ZDOTDIR=$1 exec zsh -i"},
                    a_shell{"fish", ".config/fish/config.fish",
                            "function fish_prompt; echo -n 'ready> '; end\n"
                            "tertulia completion fish | source\n",
                            "XDG_CONFIG_HOME=$1/.config exec fish -i"}),
  [](const auto& x) { return std::string{x.param.name}; });

// -- in bash and fish, line by line -------------------------------------------

TEST_F(tool_completion, offers_commands_and_options) {
  EXPECT_EQ(in_bash("c"), (strings{"chat", "completion"}));
  EXPECT_EQ(in_bash("sessions "), (strings{"list", "show", "delete", "fork",
                                           "title", "export", "import"}));
  EXPECT_EQ(in_bash("--store x sessions d"), strings{"delete"});
  EXPECT_EQ(in_bash("sessions list --li"), strings{"--limit"});
  EXPECT_EQ(in_bash("snapshots prune --d"), strings{"--dry-run"});
  EXPECT_EQ(in_bash("completion "), (strings{"bash", "zsh", "fish"}));
  EXPECT_EQ(in_bash("sessions list --limit "), strings{});
  EXPECT_EQ(in_bash("nothing like this "), strings{});
  EXPECT_EQ(in_bash("chat --model op"), strings{"openai"});
  EXPECT_EQ(in_bash("__"), strings{});
}

TEST_F(tool_completion, offers_the_sessions_of_the_store) {
  const auto store = "--store " + file.string() + ' ';
  EXPECT_EQ(in_bash(store + "sessions show "), (strings{"s1", "s2"}));
  EXPECT_EQ(in_bash(store + "sessions show --agent /flow/draft "),
            strings{"s1"});
  EXPECT_EQ(in_bash("sessions show --store=" + file.string() + " s2"),
            strings{"s2"});
  EXPECT_EQ(in_bash(store + "snapshots prune --session s2"), strings{"s2"});
  EXPECT_EQ(in_bash(store + "sessions title s2 "), strings{});
  EXPECT_EQ(in_bash("sessions show "), strings{});
  EXPECT_EQ(in_bash("--store /nowhere sessions show "), strings{});
}

TEST_F(tool_completion, offers_agents_and_snapshots) {
  const auto store = "--store " + file.string() + ' ';
  EXPECT_EQ(in_bash(store + "sessions list --agent "),
            (strings{"/agent/chat", "/flow/draft"}));
  EXPECT_EQ(in_bash(store + "snapshots diff s1@1 s2"), strings{"s2"});
  // bash splits at the @, too, and keeps the text before it.
  EXPECT_EQ(in_bash(store + "snapshots restore --agent /agent/chat s2@"),
            strings{"1"});
  EXPECT_EQ(in_bash(store + "snapshots diff --agent /agent/chat s2 s1@"),
            (strings{"1", "2", "3", "4"}));
}

TEST_F(tool_completion, offers_files_and_odd_names) {
  const auto notes = (folder / "notes.jsonl").string();
  std::ofstream{notes} << "x";
  const auto part = notes.substr(0, notes.size() - 3);
  EXPECT_EQ(in_bash("--store " + part), strings{notes});
  EXPECT_EQ(in_bash("sessions list --store " + part), strings{notes});
  EXPECT_EQ(in_bash("sessions import " + part), strings{notes});
  EXPECT_EQ(in_bash("sessions export s1 --output=" + part), strings{notes});
  output({"sessions", "fork", "s2", "odd:name of it"});
  const auto show = "--store " + file.string() + " sessions show ";
  EXPECT_EQ(in_bash(show + "od"), strings{"odd:name\\ of\\ it"});
  // bash splits at the colon and keeps the text before it.
  EXPECT_EQ(in_bash(show + "odd:n"), strings{"name\\ of\\ it"});
}

TEST_F(tool_completion, offers_the_same_in_fish) {
  if (!is_installed("fish"))
    GTEST_SKIP() << "fish is not installed";
  const auto notes = (folder / "notes.jsonl").string();
  std::ofstream{notes} << "x";
  const auto words = [this](const std::string& line) {
    auto result = in_fish(line);
    for (auto& x : result)
      x.resize(x.find('\t') < x.size() ? x.find('\t') : x.size());
    std::sort(result.begin(), result.end());
    return result;
  };
  const auto part = notes.substr(0, notes.size() - 3);
  EXPECT_EQ(words("c"), (strings{"chat", "completion"}));
  EXPECT_EQ(
    in_fish("--store x sessions d"),
    strings{"delete\tDelete a session with all its snapshots permanently"});
  EXPECT_EQ(words("snapshots prune --d"), strings{"--dry-run"});
  EXPECT_EQ(words("--store " + file.string() + " sessions show "),
            (strings{"s1", "s2"}));
  EXPECT_EQ(words("sessions import " + part), strings{notes});
  EXPECT_EQ(words("sessions export s1 --output=" + part),
            strings{"--output=" + notes});
}

// -- what the shells ask ------------------------------------------------------

TEST_F(tool_completion, prefixes_values_with_their_option) {
  EXPECT_EQ(
    of_words({"--store", file.string(), "snapshots", "prune", "--session=s2"}),
    (strings{"words", "--session=s2\tSecond"}));
  EXPECT_EQ(of_words({"sessions", "export", "s1", "--output=x"}),
            strings{"files"});
  EXPECT_EQ(of_words({"sessions", "list", "--nonsense=x"}), strings{"words"});
  EXPECT_EQ(of_words({}), of_words({""}));
}

TEST_F(tool_completion, makes_no_store_and_minds_none_that_is_broken) {
  const auto typo = folder / "chta.db";
  const strings show{"--store", typo.string(), "sessions", "show", ""};
  EXPECT_EQ(of_words(show), strings{"words"});
  EXPECT_FALSE(std::filesystem::exists(typo));
  std::ofstream{typo} << "not a store";
  EXPECT_EQ(of_words(show), strings{"words"});
  const file_store other{file};
  EXPECT_EQ(of_words({"--store", file.string(), "sessions", "show", ""}),
            strings{"words"})
    << "another process has it";
}

TEST_F(tool_completion, escapes_what_a_terminal_would_obey) {
  add_session("e\x1b[2J\t", "\x1b[1m\n");
  const auto offers
    = of_words({"--store", file.string(), "sessions", "show", "e"});
  EXPECT_EQ(offers, (strings{"words", "e\\x1b[2J\\t\t\\x1b[1m "}));
}

TEST_F(tool_completion, is_a_hidden_command) {
  for (const auto& arguments :
       std::vector<strings>{{"--help"}, {"completion", "--help"}})
    EXPECT_FALSE(has(run_bare(arguments).out, "__complete"));
  EXPECT_EQ(run_bare({"sessions", "__complete"}).code, 2);
}

} // namespace tertulia::test::tool_completion_tests
