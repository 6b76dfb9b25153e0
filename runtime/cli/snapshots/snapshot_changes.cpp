// SPDX-License-Identifier: BSD-3-Clause

#include "commands.hpp"
#include "output/shown_text.hpp"
#include "sessions/finder.hpp"
#include "snapshot_restore.hpp"
#include "tool_failure.hpp"
#include <fmt/format.h>

namespace tertulia::tool {

namespace {

/// Returns a reference to exactly this record.
snapshot_ref exactly(const snapshot_record& x) {
  return snapshot_ref{{x.agent, x.session}, x.sequence};
}

void print(tool& t, const snapshot_record& now, const std::string& what) {
  t.print(document_of(now),
          fmt::format("{}  {}  {}", name_of(now), short_id(now.id), what));
}

// -- label --------------------------------------------------------------------

struct label_options : snapshot_choice {
  std::vector<std::string> add;
  std::vector<std::string> remove;
};

exit_code label(tool& t, const label_options& o) {
  if (o.add.empty() && o.remove.empty())
    reject_usage("no label was given", "Add --add LABEL or --remove LABEL.");
  label_snapshot_request change{exactly(find_snapshot(t, o))};
  change.add = o.add;
  change.remove = o.remove;
  const auto now = t.store().ask<snapshot_record>(change);
  const auto labels = joined(now.labels);
  print(t, now,
        labels.empty() ? std::string{"has no labels now"}
                       : fmt::format("is labelled {}", labels));
  return exit_code::fine;
}

// -- note ---------------------------------------------------------------------

struct note_options : snapshot_choice {
  std::string note;
};

exit_code note(tool& t, const note_options& o) {
  const auto now = t.store().ask<snapshot_record>(
    annotate_snapshot_request{exactly(find_snapshot(t, o)), o.note});
  print(t, now,
        now.note.empty() ? std::string{"has no note now"}
                         : fmt::format("is noted: {}", one_line(now.note)));
  return exit_code::fine;
}

// -- restore ------------------------------------------------------------------

exit_code restore(tool& t, const snapshot_choice& target) {
  const auto found = find_snapshot(t, target);
  const auto x = restore_to(t, found);
  if (t.as_json())
    print_restored_json(t, x);
  else
    print_restored_text(t, x, [&](const std::string& name) {
      auto line = fmt::format("tertulia snapshots restore {}", as_word(name));
      if (!target.agent.empty())
        line += fmt::format(" --agent {}", as_word(found.agent));
      return line + t.store_options();
    });
  return exit_code::fine;
}

} // namespace

void add_snapshot_changes(CLI::App& snapshots, command& chosen) {
  {
    auto [x, o] = add_command<label_options>(
      snapshots, chosen, "label",
      "Change the labels of a snapshot; one that has a label is never pruned",
      label);
    add_snapshot(x, o);
    add_value(x, "--add", o.add, "LABEL", "Add a label; may be repeated")
      .allow_extra_args(false);
    add_value(x, "--remove", o.remove, "LABEL",
              "Remove a label; may be repeated")
      .allow_extra_args(false);
  }
  {
    auto [x, o] = add_command<note_options>(snapshots, chosen, "note",
                                            "Write a note on a snapshot", note);
    add_snapshot(x, o);
    add_argument(x, "TEXT", o.note, "The note; \"\" for none");
  }
  auto [x, o] = add_command<snapshot_choice>(
    snapshots, chosen, "restore",
    "Make a snapshot the head of its session, which continues from there. "
    "Later snapshots are orphaned, not lost",
    restore);
  add_snapshot(x, o);
}

} // namespace tertulia::tool
