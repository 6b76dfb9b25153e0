// SPDX-License-Identifier: BSD-3-Clause

#include "commands.hpp"
#include "failure.hpp"
#include "finder.hpp"
#include "snapshot_restore.hpp"
#include "text.hpp"

namespace tertulia::tool {

namespace {

/// Returns a reference to exactly this record.
snapshot_ref exactly(const snapshot_record& x) {
  return snapshot_ref{{x.agent, x.session}, x.sequence};
}

void print(tool& t, const snapshot_record& now, const std::string& what) {
  if (t.as_json())
    t.out().json_line(document_of(now));
  else
    t.out().line(name_of(now) + "  " + short_id(now.id) + "  " + what);
}

// -- label --------------------------------------------------------------------

struct label_options {
  snapshot_choice target;
  std::vector<std::string> add;
  std::vector<std::string> remove;
};

exit_code label(tool& t, const label_options& o) {
  if (o.add.empty() && o.remove.empty())
    reject_usage("no label was said", "Add --add LABEL or --remove LABEL.");
  label_snapshot_request change{exactly(
    finder{t, o.target.agent}.snapshot(o.target.name, o.target.session))};
  change.add = o.add;
  change.remove = o.remove;
  const auto now = t.store().ask<snapshot_record>(change);
  const auto labels = joined(now.labels);
  print(t, now, labels.empty() ? "has no labels now" : "is labelled " + labels);
  return exit_code::fine;
}

// -- note ---------------------------------------------------------------------

struct note_options {
  snapshot_choice target;
  std::string note;
};

exit_code note(tool& t, const note_options& o) {
  const auto found
    = finder{t, o.target.agent}.snapshot(o.target.name, o.target.session);
  const auto now = t.store().ask<snapshot_record>(
    annotate_snapshot_request{exactly(found), o.note});
  print(t, now,
        now.note.empty() ? "has no note now"
                         : "is noted: " + one_line(now.note));
  return exit_code::fine;
}

// -- restore ------------------------------------------------------------------

exit_code restore(tool& t, const snapshot_choice& target) {
  const auto found
    = finder{t, target.agent}.snapshot(target.name, target.session);
  const auto x = restore_to(t, found);
  if (t.as_json())
    print_restored_json(t, x);
  else
    print_restored_text(t, x, [&](const std::string& name) {
      auto line = "tertulia snapshots restore " + as_word(name);
      if (!target.agent.empty())
        line += " --agent " + as_word(found.agent);
      if (!t.given_store().empty())
        line += " --store " + as_word(t.given_store());
      return line;
    });
  return exit_code::fine;
}

} // namespace

void add_snapshot_changes(CLI::App& snapshots, command& chosen) {
  {
    auto& x = *snapshots.add_subcommand(
      "label", "Change the labels of a snapshot; one that has a label is never "
               "pruned");
    auto o = std::make_shared<label_options>();
    add_snapshot(x, o->target);
    x.add_option("--add", o->add, "Add a label; may be repeated")
      ->type_name("LABEL")
      ->allow_extra_args(false);
    x.add_option("--remove", o->remove, "Remove a label; may be repeated")
      ->type_name("LABEL")
      ->allow_extra_args(false);
    when_chosen(x, chosen, o, label);
  }
  {
    auto& x = *snapshots.add_subcommand("note", "Write a note on a snapshot");
    auto o = std::make_shared<note_options>();
    add_snapshot(x, o->target);
    x.add_option("TEXT", o->note, "The note; \"\" for none")
      ->required()
      ->type_name("");
    when_chosen(x, chosen, o, note);
  }
  {
    auto& x = *snapshots.add_subcommand(
      "restore", "Make a snapshot the head of its session: the session goes on "
                 "from there. What came after is orphaned, not lost");
    auto o = std::make_shared<snapshot_choice>();
    add_snapshot(x, *o);
    when_chosen(x, chosen, o, restore);
  }
}

} // namespace tertulia::tool
