// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/status.hpp>
#include <tertulia/uuid.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "chat_commands.hpp"
#include "output/shown_text.hpp"
#include "output/table.hpp"
#include "output/units.hpp"
#include "sessions/finder.hpp"
#include "snapshots/snapshot_diff.hpp"
#include "snapshots/snapshot_restore.hpp"
#include "snapshots/snapshot_tree.hpp"
#include "tool_failure.hpp"
#include <fmt/format.h>

namespace tertulia::tool {

namespace {

/// Returns the last text of the user in a log, or the last message if the user
/// has sent no text. The cost is proportional to the number of messages after
/// it.
std::string last_text(const ai::message_log& log) {
  if (log.empty())
    return {};
  for (std::size_t depth = 4;; depth *= 4) {
    const auto first = log.size() - std::min(log.size(), depth);
    std::string result;
    for (const auto& x : log.from(first))
      if (x.role == ai::role::user)
        if (auto text = x.text(); !text.empty())
          result = std::move(text);
    if (!result.empty())
      return result;
    if (first == 0)
      return log.back().text();
  }
}

/// Returns the user's last text at the time of each snapshot, by sequence
/// number. Reads all states in one pass, so that each costs only its new
/// content.
std::map<std::uint64_t, std::string> last_texts(chat& x) {
  std::map<std::uint64_t, std::string> result;
  std::vector<damage> damages;
  list_snapshots_request all{x.session()};
  all.with_orphans = true;
  all.detail = detail_level::state;
  for (auto more = true; more;) {
    const auto page = x.environment().store().ask<snapshot_page>(all);
    for (const auto& y : page.snapshots) {
      all.after = y.record.sequence;
      result.emplace(y.record.sequence, last_text(y.content.messages()));
    }
    // Damage of records was reported by records_of.
    for (const auto& y : page.damages)
      if (!y.state.empty())
        damages.push_back(y);
    more = page.more;
  }
  if (!damages.empty())
    remark(summary_of(damages)); // the other snapshots can be shown
  return result;
}

std::vector<snapshot_record> records_of(chat& x) {
  std::vector<snapshot_record> result;
  const auto damages = x.environment().store().each_record(
    x.session(), [&](const snapshot_record& y) {
      result.push_back(y);
      return true;
    });
  for (const auto& y : damages)
    remark(y.what);
  return result;
}

bool is_number(const std::string& x) {
  constexpr std::size_t most = 18; // always fits into 64 bits
  return !x.empty() && x.size() <= most
         && x.find_first_not_of("0123456789") == std::string::npos;
}

/// Finds a snapshot of the conversation.
snapshot_record find_chat_snapshot(chat& x, const std::string& name) {
  const auto session = to_string(x.session().id);
  finder find{x.environment(), x.session().agent};
  if (is_number(name) && x.info()) {
    try {
      return find.snapshot(session + '@' + name, session);
    } catch (const failure& y) {
      if (y.code() != exit_code::not_found)
        throw;
    }
  }
  try {
    if (x.info())
      return find.snapshot(name, session);
  } catch (const failure& y) {
    if (y.code() != exit_code::not_found)
      throw;
  }
  throw failure{
    status_error{errc::not_found,
                 fmt::format("there is no snapshot \"{}\" in this conversation",
                             shown(name))},
    "/snapshots lists all of them."};
}

} // namespace

void chat_show_snapshots(chat& x) {
  const auto records = records_of(x);
  auto& out = x.environment().out();
  const auto info = x.info();
  const auto head = info ? info->head : 0;
  const auto texts = x.environment().as_json()
                       ? std::map<std::uint64_t, std::string>{}
                       : last_texts(x);
  table rows{out,
             {{"SNAPSHOT", column_kind::fixed},
              {"ID", column_kind::fixed},
              {"MADE", column_kind::fixed},
              {"SAID", column_kind::text}}};
  for (const auto& row : as_tree(records)) {
    const auto& y = records[row.record];
    if (x.environment().as_json()) {
      auto line = document_of(y);
      line["head"] = y.sequence == head;
      out.json_line(line);
      continue;
    }
    const auto* const mark = y.sequence == head ? "* "
                             : y.orphaned       ? "x "
                                                : "o ";
    const auto found = texts.find(y.sequence);
    auto text = found == texts.end() ? std::string{}
                                     : fmt::format("“{}”", found->second);
    if (y.event == snapshot_event::tool_iteration_end)
      text += text.empty() ? "tools" : ", tools";
    rows.row({fmt::format("{}{}{}", row.lines, mark, y.sequence),
              short_id(y.id), local_time(y.created_at), text});
  }
  rows.print();
  if (records.empty())
    x.tell("There are no snapshots yet.");
}

void chat_restore(chat& x, const std::string& name) {
  const auto found = find_chat_snapshot(x, name);
  x.pause();
  const auto now = restore_to(x.environment(), found);
  if (x.environment().as_json())
    print_restored_json(x.environment(), now);
  else
    print_restored_text(x.environment(), now, [](const std::string& old) {
      return fmt::format("/restore {}", old.substr(old.rfind('@') + 1));
    });
  x.go_to(*x.info());
}

void chat_branch(chat& x, const std::string& name) {
  const auto from = x.session();
  const auto info = x.info();
  if (!info)
    throw failure{
      status_error{errc::not_found, "this conversation has no snapshot yet"}};
  copy_session_request copy{from, {from.agent, session_id{make_uuid()}}};
  copy.up_to = name.empty() ? info->head : find_chat_snapshot(x, name).sequence;
  x.pause();
  const auto made = x.environment().store().ask<session_info>(copy);
  x.environment().print(
    document_of(made),
    fmt::format("This is a copy with {}. To go back: /resume {}",
                counted(made.records, "snapshot"), from.id.str()));
  x.go_to(made);
}

void chat_diff(chat& x, const std::string& before, const std::string& after) {
  const auto info = x.info();
  const auto old = find_chat_snapshot(x, before);
  const auto now = find_chat_snapshot(
    x, after.empty() && info ? std::to_string(info->head) : after);
  print_diff(x.environment(), old, now);
}

} // namespace tertulia::tool
