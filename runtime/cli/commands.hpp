// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <memory>

#include "command_environment.hpp"
#include "sessions/finder.hpp"
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <CLI/Validators.hpp>

namespace tertulia::tool {

// Each function adds commands to the tree. Parsing the command line stores the
// selected command in `chosen`.

void add_chat(CLI::App& root, command& chosen);
void add_agents(CLI::App& root, command& chosen);

/// Only in a build with the HTTP server.
void add_serve(CLI::App& root, command& chosen);

void add_session_views(CLI::App& sessions, command& chosen);
void add_session_changes(CLI::App& sessions, command& chosen);
void add_session_files(CLI::App& sessions, command& chosen);

void add_snapshot_views(CLI::App& snapshots, command& chosen);
void add_snapshot_diff(CLI::App& snapshots, command& chosen);
void add_snapshot_changes(CLI::App& snapshots, command& chosen);
void add_snapshot_prune(CLI::App& snapshots, command& chosen);

void add_runs(CLI::App& runs, command& chosen);

void add_verify(CLI::App& root, command& chosen);
void add_vacuum(CLI::App& root, command& chosen);
void add_pki(CLI::App& root, command& chosen);

void add_completion(CLI::App& root, command& chosen);

/// Sets the function to run when the command is selected.
/// @param fn `exit_code(tool&, const Options&)`
template <class Options, class Fn>
void when_chosen(CLI::App& x, command& chosen, std::shared_ptr<Options> options,
                 Fn fn) {
  x.callback([&chosen, options, fn] {
    chosen = [options, fn](tool& t) { return fn(t, *options); };
  });
}

/// A command of the tree, and its options.
template <class Options>
struct added_command {
  CLI::App& app;
  Options& options;
};

/// Adds a command with default options.
/// @param fn `exit_code(tool&, const Options&)`
template <class Options, class Fn>
added_command<Options> add_command(CLI::App& parent, command& chosen,
                                   const char* name, const char* description,
                                   Fn fn) {
  auto& result = *parent.add_subcommand(name, description);
  auto options = std::make_shared<Options>();
  when_chosen(result, chosen, options, fn);
  return {result, *options};
}

/// Adds an argument without a dash, which must be given.
template <class T>
void add_argument(CLI::App& x, const char* name, T& value,
                  const char* description) {
  x.add_option(name, value, description)->required()->type_name("");
}

/// Adds an option with a value.
/// @param type what the help shows as the value.
template <class T>
CLI::Option& add_value(CLI::App& x, const char* name, T& value,
                       const char* type, const std::string& description) {
  return *x.add_option(name, value, description)->type_name(type);
}

/// Adds `--agent`.
inline void add_agent(CLI::App& x, std::string& agent) {
  add_value(x, "--agent", agent, "KEY",
            "Only sessions of this agent, such as /agent/chat");
}

/// Adds the SESSION argument of a command.
inline void add_session(CLI::App& x, session_choice& choice) {
  add_argument(x, "SESSION", choice.session, "Id of the session");
  add_agent(x, choice.agent);
}

/// Adds `--session` and `--agent`, which select among snapshots.
inline void add_session_of_snapshots(CLI::App& x, session_choice& choice) {
  add_value(x, "--session", choice.session, "SESSION",
            "Only snapshots of this session");
  add_agent(x, choice.agent);
}

/// How commands describe the name of a snapshot.
inline constexpr const char* snapshot_names
  = "SESSION@SEQUENCE, SESSION for its head, an id, or 4 or more characters "
    "that only one id begins with";

/// Adds the SNAPSHOT argument of a command.
inline void add_snapshot(CLI::App& x, snapshot_choice& choice) {
  add_argument(x, "SNAPSHOT", choice.name, snapshot_names);
  add_session_of_snapshots(x, choice);
}

} // namespace tertulia::tool
