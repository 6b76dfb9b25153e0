// SPDX-License-Identifier: BSD-3-Clause

#include <caf/timestamp.hpp>

#include <algorithm>
#include <utility>

#include "commands.hpp"
#include "output/ask_first.hpp"
#include "output/shown_text.hpp"
#include "output/table.hpp"
#include "output/units.hpp"
#include "prune_plan.hpp"
#include "sessions/finder.hpp"
#include "store/damages.hpp"
#include "tool_failure.hpp"
#include <fmt/format.h>

namespace tertulia::tool {

namespace {

struct prune_options : session_choice {
  std::string older_than;
  std::uint64_t keep = 0;
  bool has_keep = false;
  bool dry_run = false;
  bool yes = false;
};

std::string extent_of(const prune_plan& x) {
  return fmt::format("{} of {} in {}", x.dropped,
                     counted(x.records, "snapshot"),
                     counted(x.sessions.size(), "session"));
}

void print_plan(tool& t, const prune_plan& plan) {
  if (t.as_json()) {
    document all;
    all["dryRun"] = true;
    all["records"] = plan.dropped;
    auto& list = all["snapshots"] = document::array();
    for (const auto& x : plan.sessions)
      for (const auto& y : x.dropped)
        list.push_back(document_of(y));
    all["damages"] = document_of(plan.damages);
    t.out().json_line(all);
    return;
  }
  table rows{t.out(),
             {{"AGENT", column_kind::text},
              {"SNAPSHOT", column_kind::text},
              {"ID", column_kind::fixed},
              {"MADE", column_kind::fixed}}};
  for (const auto& x : plan.sessions) {
    for (const auto& y : x.dropped)
      rows.row(
        {shown(y.agent), name_of(y), short_id(y.id), local_time(y.created_at)});
    rows.print();
  }
  print_damages(t, plan.damages);
  t.out().line(plan.dropped == 0
                 ? std::string{"Nothing would be pruned."}
                 : fmt::format("Would prune {}.", extent_of(plan)));
}

exit_code prune(tool& t, const prune_options& o) {
  if (!o.has_keep && o.older_than.empty())
    reject_usage("no condition for pruning was given",
                 "Add --older-than 30d, --keep N or both.");
  prune_snapshots_request query;
  query.agent = o.agent;
  query.keep_newest = o.keep;
  if (!o.older_than.empty())
    query.created_before = parse_time("--older-than", o.older_than);
  if (!o.session.empty()) {
    const auto info = find_session(t, o);
    query.agent = info.agent;
    query.session = info.id;
  }
  auto bar = t.show_progress("looking");
  auto plan = plan_prune(t.store(), query, bar);
  bar.clear();
  if (o.dry_run) {
    print_plan(t, plan);
    return code_of(plan.damages);
  }
  if (plan.dropped > 0)
    ask_first(t, fmt::format("Prune {} permanently?", extent_of(plan)), o.yes);
  auto work = t.show_progress("pruning");
  erase_result pruned;
  std::uint64_t done = 0;
  for (const auto& x : plan.sessions) {
    query.agent = x.session.agent;
    query.session = x.session.id;
    auto result = t.store().ask<erase_result>(query);
    pruned.records += result.records;
    pruned.states += result.states;
    for (auto& y : result.damages)
      if (std::find(plan.damages.begin(), plan.damages.end(), y)
          == plan.damages.end())
        plan.damages.push_back(std::move(y));
    work.at(++done, plan.sessions.size());
  }
  work.clear();
  if (t.as_json()) {
    t.out().json_line(document{{"sessions", plan.sessions.size()},
                               {"records", pruned.records},
                               {"states", pruned.states},
                               {"damages", document_of(plan.damages)}});
  } else {
    print_damages(t, plan.damages);
    t.out().line(pruned.records == 0
                   ? std::string{"There was nothing to prune."}
                   : fmt::format("Pruned {} in {}.",
                                 counted(pruned.records, "snapshot"),
                                 counted(plan.sessions.size(), "session")));
  }
  return code_of(plan.damages);
}

} // namespace

void add_snapshot_prune(CLI::App& snapshots, command& chosen) {
  auto& x = *snapshots.add_subcommand(
    "prune",
    "Delete old snapshots permanently. Heads and labelled snapshots stay");
  auto o = std::make_shared<prune_options>();
  add_session_of_snapshots(x, *o);
  add_value(
    x, "--older-than", o->older_than, "AGE",
    "Only snapshots that are older: 30d, or a time as in \"sessions list\"");
  auto* keep = &add_value(x, "--keep", o->keep, "N",
                          "Keep the newest N snapshots of each session");
  x.add_flag("-n,--dry-run", o->dry_run,
             "Print what would be deleted, and change nothing");
  x.add_flag("-y,--yes", o->yes, "Do not ask");
  when_chosen(x, chosen, o, [keep](tool& t, prune_options y) {
    y.has_keep = keep->count() > 0;
    return prune(t, y);
  });
}

} // namespace tertulia::tool
