// SPDX-License-Identifier: BSD-3-Clause

// Implements `tertulia agents`, which lists and runs the actions of this
// program.

#include <tertulia/descriptor.hpp>
#include <tertulia/json.hpp>
#include <tertulia/memory_store.hpp>
#include <tertulia/status.hpp>

#include <optional>
#include <vector>

#include "chat/chat_partner.hpp"
#include "chat/line_reader.hpp"
#include "commands.hpp"
#include "data_file.hpp"
#include "output/shown_text.hpp"
#include "output/table.hpp"
#include "tool_failure.hpp"
#include <fmt/format.h>

namespace tertulia::tool {

namespace {

struct run_options {
  std::string key;
  std::vector<std::string> inputs;
  std::string init;
  std::string session;
  std::string model;
};

/// Calls the function with a runtime whose chat agent stores its sessions in
/// memory. Used for listing, and for actions that store nothing.
template <class Fn>
auto with_agents_in_memory(const std::string& model, Fn fn) {
  config cfg;
  cfg.set("scheduler.max-threads", 1);
  caf::actor_system system{cfg};
  runtime rt{system};
  const chat_partner agent{rt, spawn_memory_store(system), model, {}};
  return fn(rt);
}

bool keeps_sessions(const std::string& key) {
  return !key.starts_with("/tool/") && !key.starts_with("/model/");
}

// -- list ---------------------------------------------------------------------

/// Refuses options of a running program: the agents are those of this one.
void expect_no_address(const tool& t) {
  if (t.is_connected())
    reject_usage("\"agents\" works on this program, not on a running one",
                 "\"tertulia chat\" talks to the agent of a running program.");
}

exit_code list_agents(tool& t, const run_options& o) {
  expect_no_address(t);
  const auto all = with_agents_in_memory(o.model, [](const runtime& rt) {
    return rt.actions();
  });
  table rows{t.out(),
             {{"KEY", column_kind::fixed}, {"DESCRIPTION", column_kind::text}}};
  for (const auto& x : all) {
    if (t.as_json())
      t.out().line(to_json_text(x));
    else
      rows.row({x.key, x.description});
  }
  rows.print();
  return exit_code::fine;
}

// -- run ----------------------------------------------------------------------

json read_input(const std::string& what, const std::string& text) {
  try {
    return parse_json<json>(text);
  } catch (const status_error& failure) {
    reject_usage(fmt::format("{} cannot be read: {}: {}", what,
                             failure.message(), cut(one_line(text), 60)),
                 "Write JSON, with quotes for the shell: '{\"sides\":6}' or "
                 "'\"a text\"'.");
  }
}

std::vector<json> read_inputs(const std::vector<std::string>& texts) {
  std::vector<json> result;
  for (const auto& x : texts) {
    if (x != "-") {
      result.push_back(read_input("an input", x));
      continue;
    }
    const auto reader = plain_reader();
    for (std::string line; reader->next(line) == line_end::typed;)
      if (line.find_first_not_of(" \t\r") != std::string::npos)
        result.push_back(read_input("a line of standard input", line));
  }
  return result;
}

json run_action(tool& t, const runtime& rt, const run_options& o,
                const std::vector<json>& inputs,
                const std::optional<json>& init) {
  const auto on_chunk = [&](const json& x) { t.print_value("chunk", x); };
  const auto options = [&](auto& to) {
    if (init)
      with_init{*init}.apply(to);
    if (!o.session.empty())
      with_session_id{o.session}.apply(to);
  };
  struct chosen_options {
    decltype(options) fn;

    void apply(client_options<json>& to) const {
      fn(to);
    }
  };
  return rt.run_action(o.key, inputs, on_chunk, chosen_options{options});
}

exit_code run_agent(tool& t, const run_options& o) {
  expect_no_address(t);
  const auto inputs = read_inputs(o.inputs);
  std::optional<json> init;
  if (!o.init.empty())
    init = read_input("the value of --init", o.init);
  const auto run = [&](const runtime& rt) {
    if (!rt.find_action(o.key))
      throw failure{
        status_error{errc::not_found,
                     fmt::format("there is no action {}", shown(o.key))},
        "\"tertulia agents list\" lists all actions."};
    return run_action(t, rt, o, inputs, init);
  };
  json output;
  if (keeps_sessions(o.key)) {
    auto& store = t.store_or([] { return data_file("chat.db"); });
    runtime rt{store.system()};
    const chat_partner agent{rt, store.store(), o.model, {}};
    output = run(rt);
  } else {
    output = with_agents_in_memory(o.model, run);
  }
  t.print_value("output", output);
  return exit_code::fine;
}

} // namespace

void add_agents(CLI::App& root, command& chosen) {
  auto& agents = *root.add_subcommand(
    "agents",
    "Actions of this program: the agent of the chat, its models and its tools");
  agents.require_subcommand(1);
  add_command<run_options>(agents, chosen, "list",
                           "List the actions by key; with --json one line for "
                           "each, with its JSON Schemas",
                           list_agents);
  auto [x, o]
    = add_command<run_options>(agents, chosen, "run",
                               "Run an action once; print each chunk and then "
                               "the output, as one line of JSON each",
                               run_agent);
  add_argument(x, "KEY", o.key, "Key of the action, such as /tool/dice");
  add_value(x, "INPUT", o.inputs, "",
            "Inputs as JSON; - reads them from standard input, one per line");
  add_value(x, "--init", o.init, "JSON",
            "Value that opens the action, as JSON: the input of a tool, the "
            "request to a model");
  add_value(x, "--session", o.session, "SESSION",
            "Session to continue; a new one gets this id");
  add_value(x, "--model", o.model, "NAME", "Model that answers in the chat");
  x.footer("Examples:\n"
           "  tertulia agents run /tool/dice --init '{\"sides\":20}'\n"
           "  tertulia agents run /session-flow/chat --json \\\n"
           "    '{\"messages\":[{\"role\":\"user\","
           "\"content\":[{\"text\":\"Hello\"}]}]}'");
}

} // namespace tertulia::tool
