// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <memory>
#include <utility>

#include "tool.hpp"
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <CLI/Validators.hpp>

namespace tertulia::tool {

// Each function adds commands to the tree. Parsing the command line stores the
// selected command in `chosen`.

void add_chat(CLI::App& root, command& chosen);
void add_agents(CLI::App& root, command& chosen);

void add_session_views(CLI::App& sessions, command& chosen);
void add_session_changes(CLI::App& sessions, command& chosen);
void add_session_files(CLI::App& sessions, command& chosen);

void add_snapshot_views(CLI::App& snapshots, command& chosen);
void add_snapshot_diff(CLI::App& snapshots, command& chosen);
void add_snapshot_changes(CLI::App& snapshots, command& chosen);
void add_snapshot_prune(CLI::App& snapshots, command& chosen);

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

/// Adds `--agent`.
inline void add_agent(CLI::App& x, std::string& agent) {
  x.add_option("--agent", agent,
               "Only sessions of this agent, such as /agent/chat")
    ->type_name("KEY");
}

/// Adds the SESSION argument of a command.
inline void add_session(CLI::App& x, std::string& session, std::string& agent) {
  x.add_option("SESSION", session, "Id of the session")
    ->required()
    ->type_name("");
  add_agent(x, agent);
}

/// Options that select a snapshot.
struct snapshot_choice {
  std::string name;
  std::string session;
  std::string agent;
};

inline void add_snapshot(CLI::App& x, snapshot_choice& choice) {
  x.add_option("SNAPSHOT", choice.name,
               "SESSION@SEQUENCE, SESSION for its head, an id, or 4 or more "
               "characters that only one id begins with")
    ->required()
    ->type_name("");
  x.add_option("--session", choice.session, "Only snapshots of this session")
    ->type_name("SESSION");
  add_agent(x, choice.agent);
}

} // namespace tertulia::tool
