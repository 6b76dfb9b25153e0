// SPDX-License-Identifier: BSD-3-Clause

#include "snapshot_diff.hpp"

#include <algorithm>
#include <cstddef>

#include "commands.hpp"
#include "output/json_diff.hpp"
#include "output/shown_text.hpp"
#include "sessions/finder.hpp"
#include <fmt/format.h>

namespace tertulia::tool {

namespace {

struct diff_options : session_choice {
  std::string before;
  std::string after;
};

struct side {
  snapshot_record record;
  document content;
};

side load(tool& t, const snapshot_record& target) {
  side result;
  result.record = target;
  const auto found = t.store().ask<stored_snapshot>(get_snapshot_request{
    snapshot_ref{{target.agent, target.session}, target.sequence}});
  result.content = document_of(found.content);
  if (found.content.form() == state_form::plain) {
    // Wraps the state, so that both forms are printed in the same way.
    document whole;
    whole["state"] = std::move(result.content);
    result.content = std::move(whole);
  }
  return result;
}

/// One part of a state, which is compared separately.
struct part {
  const char* name = "";
  std::vector<change> changes;
  std::size_t size_before = 0;
  std::size_t size_after = 0;
};

part compare(const char* name, const side& before, const side& after) {
  static const document none;
  const auto part_of = [&](const side& x) -> const document& {
    const auto i = x.content.find(name);
    return i != x.content.end() ? *i : none;
  };
  part result;
  result.name = name;
  const auto& old = part_of(before);
  const auto& now = part_of(after);
  result.size_before = old.is_array() ? old.size() : 0;
  result.size_after = now.is_array() ? now.size() : 0;
  const auto path = std::string{"/"} + name;
  if (std::string_view{name} == "messages"
      || std::string_view{name} == "artifacts") {
    // A missing list counts as empty, so that each element is added or removed
    // separately.
    const auto empty = document::array();
    result.changes
      = diff(old.is_null() ? empty : old, now.is_null() ? empty : now, path);
  } else if (before.content.contains(name) != after.content.contains(name)) {
    result.changes.push_back(
      {old.is_null() ? change_kind::added : change_kind::removed, path, old,
       now});
  } else {
    result.changes = diff(old, now, path);
  }
  return result;
}

const char* verb_of(change_kind x) {
  switch (x) {
    case change_kind::added: return "add";
    case change_kind::removed: return "remove";
    case change_kind::changed: break;
  }
  return "replace";
}

document changes_of(const part& x) {
  auto result = document::array();
  for (const auto& change : x.changes) {
    document line;
    line["op"] = verb_of(change.kind);
    line["path"] = change.path;
    if (change.kind != change_kind::added)
      line["before"] = change.before;
    if (change.kind != change_kind::removed)
      line["after"] = change.after;
    result.push_back(std::move(line));
  }
  return result;
}

/// Returns a value in one line: `role: text` for a message of text only.
std::string line_of(const document& x) {
  if (x.is_object() && x.contains("role") && x.contains("content")
      && x["content"].is_array()) {
    std::string text;
    auto only_text = true;
    for (const auto& part : x["content"]) {
      only_text = only_text && part.is_object() && part.contains("text")
                  && part["text"].is_string();
      if (only_text)
        text += part["text"].get<std::string>();
    }
    if (only_text && x["role"].is_string())
      return fmt::format("{}: {}", x["role"].get<std::string>(),
                         one_line(text));
  }
  return text_of(x);
}

void print(output& to, const part& x) {
  if (x.changes.empty())
    return;
  auto title = std::string{x.name};
  if (x.size_before != x.size_after)
    title += fmt::format(": {} -> {}", x.size_before, x.size_after);
  to.line(title);
  for (const auto& y : x.changes) {
    switch (y.kind) {
      case change_kind::added:
        to.line(fmt::format("  + {}  {}", shown(y.path), line_of(y.after)));
        break;
      case change_kind::removed:
        to.line(fmt::format("  - {}  {}", shown(y.path), line_of(y.before)));
        break;
      case change_kind::changed:
        to.line(fmt::format("  ~ {}", shown(y.path)));
        to.line(fmt::format("      - {}", line_of(y.before)));
        to.line(fmt::format("      + {}", line_of(y.after)));
        break;
    }
  }
}

} // namespace

exit_code print_diff(tool& t, const snapshot_record& old,
                     const snapshot_record& now) {
  const auto before = load(t, old);
  const auto after = load(t, now);
  std::vector<part> parts;
  for (const auto* name : {"messages", "custom", "artifacts", "state"})
    if (before.content.contains(name) || after.content.contains(name))
      parts.push_back(compare(name, before, after));
  if (t.as_json()) {
    document all;
    all["before"] = document_of(before.record);
    all["after"] = document_of(after.record);
    for (const auto& x : parts)
      all[x.name] = changes_of(x);
    t.out().json_line(all);
    return exit_code::fine;
  }
  // Equal text of a different type may have a different meaning.
  const auto same_type = before.record.type == after.record.type;
  for (const auto* x : {&before, &after})
    t.out().line(fmt::format("{} {}  {}{}", x == &before ? "-" : "+",
                             name_of(x->record), short_id(x->record.id),
                             same_type
                               ? std::string{}
                               : fmt::format("  {}", name_of(x->record.type))));
  if (same_type && std::all_of(parts.begin(), parts.end(), [](const part& x) {
        return x.changes.empty();
      }))
    t.out().line("Both have the same state.");
  for (const auto& x : parts)
    print(t.out(), x);
  return exit_code::fine;
}

void add_snapshot_diff(CLI::App& snapshots, command& chosen) {
  auto [x, o] = add_command<diff_options>(
    snapshots, chosen, "diff",
    "Show what differs between the states of two snapshots",
    [](tool& t, const diff_options& y) {
      finder find{t, y.agent};
      const auto before = find.snapshot(y.before, y.session);
      return print_diff(t, before, find.snapshot(y.after, y.session));
    });
  add_argument(x, "BEFORE", o.before, snapshot_names);
  add_argument(x, "AFTER", o.after,
               "Snapshot to compare it with, named in the same way");
  add_session_of_snapshots(x, o);
}

} // namespace tertulia::tool
