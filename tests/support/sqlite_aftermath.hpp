// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/sqlite_store.hpp>
#include <tertulia/store.hpp>

#include <filesystem>
#include <string>

#include "support/raw_sqlite.hpp"
#include "support/sqlite_program.hpp"

namespace tertulia::test::sqlite_fault_tests {

/// Returns all damage to a file, whatever has happened to it; empty for none.
inline std::string damage_of(const std::filesystem::path& file,
                             const promises& all,
                             durability survives = durability::process) {
  std::string result;
  auto complain = [&](const std::string& text) { result += text + '\n'; };
  {
    program again{file, survives};
    for (const auto& [where, text] : all.records) {
      const snapshot_ref snapshot{session(where.first), where.second};
      const auto found = again.get(get_snapshot_request{snapshot});
      if (!found || found->content.text() != text)
        complain("record " + std::to_string(where.second) + " of " + where.first
                 + (found ? " is another one" : " is gone"));
    }
    const auto session_of = [&](const std::string& name) {
      return again.get(get_session_request{session(name)});
    };
    for (const auto& [name, head] : all.heads)
      if (const auto found = session_of(name);
          !found || found->info.head != head)
        complain(name + " does not stand where it was restored to");
    for (const auto& [name, text] : all.works_on)
      if (const auto found = session_of(name);
          !found || found->content.text() != text)
        complain(name + " does not work on what was saved");
    for (const auto& [sequence, label] : all.labels) {
      const snapshot_ref snapshot{session("s"), sequence};
      const auto found = again.get(get_snapshot_request{snapshot});
      if (!found || found->record.labels != std::vector{label})
        complain("record " + std::to_string(sequence) + " has no label");
    }
    const auto expect_none = [&](const auto& page) {
      if (page)
        for (const auto& x : page->damages)
          complain(x.what);
    };
    const auto verified = again.get(verify_sessions_request{});
    expect_none(verified);
    if (!verified || verified->more)
      complain("not all of it can be verified");
    list_sessions_request every_one;
    every_one.updated_since = caf::timestamp::min();
    const auto sessions = again.get(every_one);
    if (!sessions)
      return result + "there is no list of sessions";
    expect_none(sessions);
    for (const auto& info : sessions->sessions) {
      const auto name = info.id.str();
      if (all.deleted.contains(name))
        complain(name + " is there again");
      if (!session_of(name))
        complain(name + " cannot be read");
      list_snapshots_request records{session(name)};
      records.with_orphans = true;
      records.detail = detail_level::state;
      const auto page = again.get(records);
      expect_none(page);
      if (!page || page->snapshots.size() != info.records)
        complain(name + " has other records than it says");
    }
  }
  raw_sqlite db{file};
  if (const auto text = db.texts("PRAGMA integrity_check").at(0); text != "ok")
    complain(text);
  if (!db.texts("PRAGMA foreign_key_check").empty())
    complain("something has dangling references");
  for (const auto* nothing :
       {"SELECT count(*) FROM blobs b WHERE NOT EXISTS"
        " (SELECT 1 FROM records WHERE b.key IN (custom, artifacts))"
        " AND NOT EXISTS"
        " (SELECT 1 FROM sessions WHERE b.key IN (custom, artifacts))",
        "SELECT count(*) FROM messages m WHERE (m.key & 4294967295) >="
        " max((SELECT coalesce(max(length), 0) FROM records"
        "      WHERE branch = m.key >> 32),"
        "     (SELECT coalesce(max(length), 0) FROM sessions"
        "      WHERE branch = m.key >> 32),"
        "     (SELECT coalesce(max(start), 0) FROM branches"
        "      WHERE parent = m.key >> 32))",
        "SELECT count(*) FROM branches b WHERE NOT EXISTS"
        " (SELECT 1 FROM messages"
        "  WHERE key BETWEEN b.key << 32 AND (b.key << 32) + 4294967295)",
        "SELECT count(*) FROM shares WHERE session NOT IN"
        " (SELECT key FROM sessions)"})
    if (db.number(nothing) != 0)
      complain(std::string{nothing} + " is not 0");
  return result;
}

} // namespace tertulia::test::sqlite_fault_tests
