// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/json.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "commands.hpp"
#include "output/documents.hpp"
#include "output/shown_text.hpp"
#include "output/table.hpp"
#include "output/units.hpp"
#include "tool_failure.hpp"
#include <fmt/format.h>

// Kept runs of conversations, as their store knows them.

namespace tertulia::tool {

namespace {

document run_document(const stored_run& x) {
  document result;
  result["id"] = as_utf8(x.id.str());
  result["agent"] = as_utf8(x.agent);
  result["session"] = as_utf8(x.session.str());
  result["status"] = to_json(x.status).get<std::string>();
  if (x.snapshot)
    result["snapshot"] = as_utf8(x.snapshot.str());
  if (x.code != errc::ok)
    result["error"]
      = {{"code", to_string(x.code)}, {"message", as_utf8(x.error)}};
  result["owner"] = as_utf8(x.owner);
  result["beganAt"] = document_in(to_json_text(x.began_at));
  result["beatAt"] = document_in(to_json_text(x.beat_at));
  if (x.ended_at != timestamp{})
    result["endedAt"] = document_in(to_json_text(x.ended_at));
  return result;
}

// -- list ---------------------------------------------------------------------

struct run_filter {
  std::string agent;
  std::string session;
  std::optional<run_status> status;
  std::uint64_t limit = 0;
};

exit_code print_runs(tool& t, const run_filter& o) {
  list_runs_request query;
  query.agent = o.agent;
  query.session = session_id{o.session};
  query.status = o.status;
  table rows{t.out(),
             {{"RUN", column_kind::fixed},
              {"STATUS", column_kind::fixed},
              {"AGENT", column_kind::text},
              {"SESSION", column_kind::text},
              {"BEGAN", column_kind::fixed},
              {"ENDED", column_kind::fixed}}};
  std::uint64_t found = 0;
  auto more = true;
  while (more) {
    auto page = t.store().ask<run_page>(query);
    more = page.more;
    for (const auto& x : page.runs) {
      if (o.limit != 0 && found == o.limit) {
        more = false;
        if (!t.as_json())
          remark("There are more: add --limit.");
        break;
      }
      ++found;
      query.after = x.id;
      if (t.as_json())
        t.out().json_line(run_document(x));
      else
        rows.row({shown(x.id.str()), to_json(x.status).get<std::string>(),
                  shown(x.agent), shown(x.session.str()),
                  local_time(x.began_at),
                  x.ended_at == timestamp{} ? "" : local_time(x.ended_at)});
    }
    rows.print();
    t.out().flush();
  }
  if (found == 0 && !t.as_json())
    remark("No run matches.");
  return exit_code::fine;
}

// -- show and abort -----------------------------------------------------------

struct run_choice {
  std::string run;
};

void show_run(tool& t, const stored_run& x) {
  if (t.as_json())
    return t.out().json_line(run_document(x));
  print_fields(
    t.out(),
    {{"run", shown(x.id.str())},
     {"status", to_json(x.status).get<std::string>()},
     {"agent", shown(x.agent)},
     {"session", shown(x.session.str())},
     {"snapshot", shown(x.snapshot.str())},
     {"error", x.code == errc::ok
                 ? std::string{}
                 : fmt::format("{}: {}", to_string(x.code), shown(x.error))},
     {"process", shown(x.owner)},
     {"began", exact_time(x.began_at)},
     {"heartbeat", exact_time(x.beat_at)},
     {"ended", x.ended_at == timestamp{} ? "" : exact_time(x.ended_at)}});
}

exit_code print_run(tool& t, const run_choice& o) {
  show_run(
    t, t.store().ask<stored_run>(get_run_request{run_ref{{}, run_id{o.run}}}));
  t.out().flush();
  return exit_code::fine;
}

exit_code abort_run(tool& t, const run_choice& o) {
  auto& store = t.store();
  const run_ref target{{}, run_id{o.run}};
  const auto before = store.ask<stored_run>(get_run_request{target});
  // The program ends it at once; from the store it would learn of it with its
  // next heartbeat.
  if (store.program() != nullptr && before.status == run_status::running)
    store.program()
      ->action<json, json, json, json>(before.agent)
      .abort(target.run);
  store.ask<stored_run>(abort_run_request{target});
  if (before.status != run_status::running
      && before.status != run_status::expired && !t.as_json())
    remark("The run had already ended.");
  show_run(t, store.ask<stored_run>(get_run_request{target}));
  t.out().flush();
  return exit_code::fine;
}

/// Prints what a run of a running program says from now on, and its output.
exit_code attach_run(tool& t, const run_choice& o) {
  if (!t.is_connected())
    reject_usage(
      "\"runs attach\" needs the program in which the run takes place",
      "Add --connect HOST:PORT.");
  auto& store = t.store();
  const run_id id{o.run};
  const auto run = store.ask<stored_run>(get_run_request{run_ref{{}, id}});
  const auto agent = store.program()->action<json, json, json, json>(run.agent);
  auto listener = agent.stream_bidi(with_run{id}, as_listener{});
  do {
    for (const auto& x : listener.responses())
      t.print_value("chunk", x);
  } while (!listener.finished());
  t.print_value("output", listener.output());
  return exit_code::fine;
}

} // namespace

void add_runs(CLI::App& runs, command& chosen) {
  {
    auto [x, o] = add_command<run_filter>(
      runs, chosen, "list",
      "List runs, newest first; with --json one line for each", print_runs);
    add_value(x, "--agent", o.agent, "KEY",
              "Only runs of this agent, such as /agent/chat");
    add_value(x, "--session", o.session, "SESSION",
              "Only runs of this session");
    const std::map<std::string, run_status> names{
      {"running", run_status::running},
      {"completed", run_status::completed},
      {"failed", run_status::failed},
      {"aborted", run_status::aborted},
      {"expired", run_status::expired}};
    add_value(x, "--status", o.status, "STATUS",
              "Only runs of this status: running, completed, failed, aborted, "
              "or expired (the process is gone)")
      .transform(CLI::CheckedTransformer(names).description(""));
    add_value(x, "--limit", o.limit, "N", "Maximum number of runs")
      .check(CLI::PositiveNumber.description(""));
  }
  {
    auto [x, o] = add_command<run_choice>(
      runs, chosen, "show", "Show the details of a run", print_run);
    add_argument(x, "RUN", o.run, "Id of the run");
  }
  {
    auto [x, o]
      = add_command<run_choice>(runs, chosen, "abort",
                                "Abort a run; without --connect its process "
                                "notices it at its next heartbeat",
                                abort_run);
    add_argument(x, "RUN", o.run, "Id of the run");
  }
  {
    auto [x, o] = add_command<run_choice>(
      runs, chosen, "attach",
      "Listen to a run of a running program: print each chunk of the turn "
      "under way and of later ones, and the output last, as JSON",
      attach_run);
    add_argument(x, "RUN", o.run, "Id of the run");
  }
}

} // namespace tertulia::tool
