// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/json.hpp>
#include <tertulia/status.hpp>

#include <cstdint>

#include "commands.hpp"
#include "output/shown_text.hpp"
#include "output/table.hpp"
#include "output/units.hpp"
#include "sessions/finder.hpp"
#include "tool_failure.hpp"
#include <fmt/format.h>

namespace tertulia::tool {

namespace {

// -- list ---------------------------------------------------------------------

struct snapshot_list_options : session_choice {
  bool active = false;
};

exit_code print_snapshots(tool& t, const snapshot_list_options& o) {
  const auto info = find_session(t, o);
  table rows{t.out(),
             {{"", column_kind::fixed},
              {"SEQ", column_kind::number},
              {"FROM", column_kind::number},
              {"ID", column_kind::fixed},
              {"EVENT", column_kind::fixed},
              {"TURN", column_kind::number},
              {"MADE", column_kind::fixed},
              {"LABELS", column_kind::text},
              {"NOTE", column_kind::text}}};
  std::uint64_t before = 0;
  std::uint64_t count = 0;
  const auto damages = t.store().each_record(
    {info.agent, info.id}, [&](const snapshot_record& x) {
      if (o.active && x.orphaned)
        return true;
      ++count;
      if (t.as_json()) {
        auto line = document_of(x);
        line["head"] = x.sequence == info.head;
        t.out().json_line(line);
        return true;
      }
      // The parent is shown only if it is not the row above.
      const auto from = x.parent == before ? "" : std::to_string(x.parent);
      rows.row({x.sequence == info.head ? "*"
                : x.orphaned            ? "x"
                                        : "",
                std::to_string(x.sequence), from, short_id(x.id),
                to_json(x.event).get<std::string>(),
                std::to_string(x.turn_index), local_time(x.created_at),
                joined(x.labels), x.note});
      before = x.sequence;
      if (count % max_page == 0)
        rows.print();
      return true;
    });
  rows.print();
  if (!t.as_json() && count == 0)
    remark("There are no snapshots.");
  else if (!t.as_json() && t.out().is_terminal())
    remark("* head   x orphaned   FROM: parent, if it is not in the row above");
  t.out().flush();
  expect_none(damages);
  return exit_code::fine;
}

// -- show ---------------------------------------------------------------------

struct snapshot_show_options : snapshot_choice {
  bool only_state = false;
};

exit_code print_snapshot(tool& t, const snapshot_show_options& o) {
  const auto record = find_snapshot(t, o);
  const snapshot_ref snapshot{{record.agent, record.session}, record.sequence};
  state content;
  std::string damage;
  try {
    content
      = t.store().ask<stored_snapshot>(get_snapshot_request{snapshot}).content;
  } catch (const status_error& x) {
    if (x.code() != errc::data_loss || o.only_state)
      throw;
    damage = x.message();
  }
  if (o.only_state) {
    // The id is the hash of exactly these bytes. For a terminal they are
    // escaped.
    const auto text = content.text();
    t.out().write(t.out().is_terminal() ? shown_json(text) + '\n' : text);
    return exit_code::fine;
  }
  if (t.as_json()) {
    document all;
    all["record"] = document_of(record);
    if (damage.empty())
      all["state"] = document_of(content);
    t.out().json_line(all);
  } else {
    print_fields(
      t.out(),
      {{"snapshot", shown(record.id.str())},
       {"state",
        record.state.str() == record.id.str() ? "" : record.state.str()},
       {"type", record.type.empty() ? "" : name_of(record.type)},
       {"session", fmt::format("{} of {}", shown(record.session.str()),
                               shown(record.agent))},
       {"sequence", std::to_string(record.sequence)},
       {"status", record.orphaned ? "orphaned" : "active"},
       {"goes on from",
        record.parent == 0
          ? std::string{}
          : fmt::format("{}  {}", record.parent, short_id(record.parent_id))},
       {"index", std::to_string(record.index)},
       {"event",
        fmt::format("{}, turn {}", to_json(record.event).get<std::string>(),
                    record.turn_index)},
       {"made", exact_time(record.created_at)},
       {"labels", joined(record.labels)},
       {"note", record.note}});
    if (damage.empty()) {
      t.out().line("");
      t.out().write(pretty_text_of(document_of(content)) + '\n');
    }
  }
  if (!damage.empty()) {
    t.out().flush();
    throw failure{status_error{errc::data_loss, damage},
                  "\"tertulia verify\" looks for more damage."};
  }
  return exit_code::fine;
}

} // namespace

void add_snapshot_views(CLI::App& snapshots, command& chosen) {
  {
    auto [x, o] = add_command<snapshot_list_options>(
      snapshots, chosen, "list",
      "Show the timeline of a session, oldest first; with --json one line for "
      "each snapshot",
      print_snapshots);
    add_session(x, o);
    x.add_flag("--active", o.active, "Leave orphaned snapshots out");
  }
  auto [x, o] = add_command<snapshot_show_options>(
    snapshots, chosen, "show", "Show a snapshot and its state", print_snapshot);
  add_snapshot(x, o);
  x.add_flag("--state", o.only_state,
             "Print the canonical JSON of the state and nothing else: "
             "sha256sum of it is the id of the state");
}

} // namespace tertulia::tool
