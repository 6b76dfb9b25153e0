// SPDX-License-Identifier: BSD-3-Clause

#include "snapshot_restore.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "output/documents.hpp"
#include "sessions/finder.hpp"
#include "store/damages.hpp"
#include "tool_failure.hpp"
#include <fmt/format.h>

namespace tertulia::tool {

namespace {

std::string listed(const std::vector<std::uint64_t>& sequences) {
  constexpr std::size_t max_listed = 20;
  const auto size = std::min(sequences.size(), max_listed);
  auto result = fmt::format("{}", fmt::join(sequences.data(),
                                            sequences.data() + size, ", "));
  if (size < sequences.size())
    result += fmt::format(", … ({} in all)", sequences.size());
  return result;
}

/// Orphaned flag of each record of a session, by sequence number.
struct timeline {
  std::map<std::uint64_t, bool> orphaned;
  std::vector<damage> damages;
};

timeline timeline_of(tool& t, const session_ref& session) {
  timeline result;
  result.damages
    = t.store().each_record(session, [&](const snapshot_record& x) {
        result.orphaned[x.sequence] = x.orphaned;
        return true;
      });
  return result;
}

} // namespace

restored restore_to(tool& t, const snapshot_record& x) {
  const session_ref session{x.agent, x.session};
  auto before = timeline_of(t, session);
  restored result;
  result.before
    = t.store()
        .ask<stored_session>(get_session_request{session, detail_level::record})
        .info.head;
  result.now = t.store()
                 .ask<stored_snapshot>(
                   restore_snapshot_request{snapshot_ref{session, x.sequence}})
                 .record;
  auto after = timeline_of(t, session);
  for (const auto& [sequence, is_orphaned] : after.orphaned)
    if (is_orphaned != before.orphaned[sequence])
      (is_orphaned ? result.orphaned : result.recovered).push_back(sequence);
  result.damages = std::move(after.damages);
  return result;
}

void print_restored_json(tool& t, const restored& x) {
  document all;
  all["head"] = document_of(x.now);
  all["orphaned"] = x.orphaned;
  all["recovered"] = x.recovered;
  all["damages"] = document_of(x.damages);
  t.out().json_line(all);
}

void print_restored_text(
  tool& t, const restored& x,
  const std::function<std::string(const std::string&)>& way_back) {
  t.out().line(fmt::format("{}  {}  {}", name_of(x.now), short_id(x.now.id),
                           x.now.sequence == x.before
                             ? "was the head already, and is continued"
                             : "is the head now"));
  if (!x.recovered.empty())
    t.out().line(fmt::format("Recovered: {}.", listed(x.recovered)));
  if (!x.orphaned.empty()) {
    auto last = x.now;
    last.sequence = x.before;
    t.out().line(fmt::format("Orphaned: {}. To restore them: {}",
                             listed(x.orphaned), way_back(name_of(last))));
  }
  if (!x.damages.empty())
    remark(fmt::format("Damaged snapshots are in neither list: {}.",
                       summary_of(x.damages)));
}

} // namespace tertulia::tool
