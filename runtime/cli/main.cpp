// SPDX-License-Identifier: BSD-3-Clause

// tertulia: a chat with an agent that remembers, and commands to inspect and
// maintain the file of a store.

#include <tertulia/status.hpp>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "commands.hpp"
#include "completion.hpp"
#include "help_formatter.hpp"
#include "interrupts.hpp"
#include "output/descriptors.hpp"
#include "system_check.hpp"
#include "tool_failure.hpp"
#include "whole_arguments.hpp"
#include <CLI/Error.hpp>
#include <fmt/format.h>
#include <unistd.h>

namespace tertulia::tool {

namespace {

constexpr const char* examples = R"(Store:
  --store FILE, before or after the command, or the environment variable
  TERTULIA_STORE. Without them "chat", "serve" and "agents run" use a file of
  their own. One process at a time can have a store. For the store of a running
  program: --connect HOST:PORT --certificate DIR/NAME.

Names:
  a session   its id; add --agent if several agents have one of that id
  a snapshot  SESSION@SEQUENCE, as s1@3; SESSION for its head; its id, or 4 or
              more characters that only one id begins with
  An ambiguous name is refused with a list of the candidates.

Examples:
  tertulia chat
  printf 'Hello\nI am tired\n' | tertulia chat --quiet
  tertulia --store chat.db sessions list --since 7d
  tertulia --store chat.db snapshots list s1
  tertulia --store chat.db snapshots diff s1@2 s1
  tertulia --store chat.db sessions export s1 -o s1.jsonl
  tertulia --store copy.db sessions import s1.jsonl
  tertulia --store chat.db snapshots prune --older-than 30d --dry-run
  tertulia pki init ca && tertulia pki issue ca server
  tertulia --connect 127.0.0.1:4711 --certificate ca/client runs list

For programs:
  --json prints one JSON document, or one per line for lists ("sessions list",
  "snapshots list") and conversations ("chat", "agents run"); errors are
  {"error":{"code":...}} on standard error.

Exit codes:
  0 success                    4 damage found, in the store or a file
  1 the tool or store failed   5 another process has the store
  2 wrong usage, or ambiguous  130 interrupted (143 by SIGTERM, 129 by SIGHUP)
  3 not found)";

void add_common(CLI::App& x, common_options& o) {
  constexpr const char* group = "Options of every command";
  x.set_help_flag(); // lists it last
  x.set_help_flag("-h,--help", "Print this help")->group(group);
  x.add_option("--store", o.store, "File of the store (or TERTULIA_STORE)")
    ->type_name("FILE")
    ->group(group);
  x.add_option("--connect", o.connect,
               "Address of a running program to work on instead of a file, "
               "with the key of an agent if it has several stores")
    ->type_name("HOST:PORT[/KEY]")
    ->group(group);
  x.add_option(
     "--certificate", o.certificate,
     "Certificate for the connection, made by \"tertulia pki issue DIR "
     "NAME\"")
    ->type_name("DIR/NAME")
    ->group(group);
  x.add_flag("--plain", o.plain,
             "Connect without TLS, to a program on a trusted host")
    ->group(group);
  x.add_flag("--json", o.json, "Print JSON, for programs")->group(group);
  x.add_option("--wait", o.wait,
               "Longest wait for another process that has the store, or for "
               "the running program")
    ->type_name("TIME")
    ->default_str("2s")
    ->group(group);
  for (auto* y : x.get_subcommands([](const CLI::App*) { return true; }))
    add_common(*y, o);
}

void build(CLI::App& root, common_options& common, command& chosen) {
  root.formatter(std::make_shared<help_formatter>());
  root.require_subcommand(1);
  root.set_version_flag("--version", "tertulia " TERTULIA_VERSION,
                        "Print the version");
  root.footer("\"tertulia --help\" explains the names of sessions and "
              "snapshots, and the exit codes.");

  add_chat(root, chosen);
  add_agents(root, chosen);
#ifdef TERTULIA_HAS_HTTP_SERVER
  add_serve(root, chosen);
#endif

  auto& sessions = *root.add_subcommand(
    "sessions", "Conversations: list, show, change, move between stores");
  sessions.require_subcommand(1);
  add_session_views(sessions, chosen);
  add_session_changes(sessions, chosen);
  add_session_files(sessions, chosen);

  auto& snapshots = *root.add_subcommand(
    "snapshots", "Snapshots of sessions: list, compare, label, restore, prune");
  snapshots.require_subcommand(1);
  add_snapshot_views(snapshots, chosen);
  add_snapshot_diff(snapshots, chosen);
  add_snapshot_changes(snapshots, chosen);
  add_snapshot_prune(snapshots, chosen);

  auto& runs = *root.add_subcommand(
    "runs", "Kept runs of conversations: list, show, abort, attach");
  runs.require_subcommand(1);
  add_runs(runs, chosen);

  add_verify(root, chosen);
  add_vacuum(root, chosen);
  add_pki(root, chosen);
  add_completion(root, chosen);
  add_common(root, common);
  take_whole(root);
  root.footer(examples);
}

/// Returns the command that was being parsed, to refer to its help.
std::string path_of(const CLI::App& root) {
  auto result = root.get_name();
  const auto* at = &root;
  for (auto below = at->get_subcommands(); !below.empty();
       below = at->get_subcommands()) {
    at = below.front();
    result += fmt::format(" {}", at->get_name());
  }
  return result;
}

/// Returns the error of a command line as one sentence.
std::string sentence_of(const CLI::App& root, const CLI::ParseError& x) {
  if (const auto rest = root.remaining(true); x.get_name() == "RequiredError"
                                              && !rest.empty()
                                              && !rest.front().starts_with('-'))
    return fmt::format("{} does not know \"{}\"", path_of(root), rest.front());
  std::string result = x.what();
  std::replace(result.begin(), result.end(), '\n', ' ');
  while (result.ends_with('.') || result.ends_with(' '))
    result.pop_back();
  return result;
}

/// Whether errors are reported as JSON.
std::atomic<bool> as_json;

exit_code run(int argc, const char* const* argv) {
  common_options common;
  command chosen;
  CLI::App root{"Talks to an agent that remembers; inspects and maintains the "
                "file of a store.",
                "tertulia"};
  build(root, common, chosen);
  tool t{common};
  if (argc > 1 && argv[1] == std::string_view{complete_command}) {
    complete(root, {argv + 2, argv + argc}, t.out());
    t.out().flush();
    return exit_code::fine;
  }
  const auto arguments = mark_whole(argc, argv);
  std::vector<const char*> marked;
  marked.reserve(arguments.size());
  for (const auto& x : arguments)
    marked.push_back(x.c_str());
  try {
    root.parse(argc, marked.data());
  } catch (const CLI::CallForHelp&) {
    t.out().write(root.help());
    t.out().flush();
    return exit_code::fine;
  } catch (const CLI::CallForVersion& x) {
    t.out().line(x.what());
    t.out().flush();
    return exit_code::fine;
  } catch (const CLI::ParseError& x) {
    // The command line was not parsed to its end.
    as_json = std::any_of(argv, argv + argc,
                          [](std::string_view y) { return y == "--json"; });
    reject_usage(sentence_of(root, x),
                 fmt::format("Try: {} --help", path_of(root)));
  }
  as_json = common.json;
  expect_usable_system();
  const auto result = chosen(t);
  t.out().flush();
  return result;
}

exit_code run_and_report(int argc, const char* const* argv) {
  try {
    watch_interrupts();
    return run(argc, argv);
  } catch (const closed_pipe&) {
    return exit_code::fine;
  } catch (...) {
    const auto reason = current_failure();
    report(reason, as_json);
    return reason.code();
  }
}

/// Reports an exception that escaped from a thread, most likely because memory
/// is exhausted.
[[noreturn]] void end_unhandled() {
  if (!std::current_exception())
    std::abort(); // a bug in this program
  report_unhandled(as_json);
  ::_exit(static_cast<int>(exit_code::failed));
}

} // namespace

} // namespace tertulia::tool

int main(int argc, char** argv) {
  using namespace tertulia::tool;
  try {
    std::set_terminate(end_unhandled);
    occupy_standard_descriptors();
    return static_cast<int>(run_and_report(argc, argv));
  } catch (...) { // the report itself has failed
    return static_cast<int>(exit_code::failed);
  }
}
