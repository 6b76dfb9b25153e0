// SPDX-License-Identifier: BSD-3-Clause

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "commands.hpp"
#include "damages.hpp"
#include "output/shown_text.hpp"
#include "sessions/finder.hpp"
#include <fmt/format.h>

namespace tertulia::tool {

namespace {

/// Returns the number of sessions and records to verify.
std::uint64_t amount_of_work(tool& t, const verify_sessions_request& query) {
  std::uint64_t result = 0;
  t.store().each_session(query.agent, [&](const session_info& x) {
    if (query.session.empty() || x.id == query.session)
      result += 1 + x.records;
    return true;
  });
  return result;
}

exit_code verify(tool& t, const session_choice& o) {
  verify_sessions_request query;
  query.agent = o.agent;
  if (!o.session.empty()) {
    const auto info = find_session(t, o);
    query.agent = info.agent;
    query.session = info.id;
  }
  auto bar = t.show_progress("verifying");
  const auto length = bar.is_shown() ? amount_of_work(t, query) : 0;
  std::uint64_t sessions = 0;
  std::uint64_t records = 0;
  std::vector<damage> damages;
  for (auto more = true; more;) {
    auto page = t.store().ask<verification_page>(query);
    sessions += page.sessions;
    records += page.records;
    std::move(page.damages.begin(), page.damages.end(),
              std::back_inserter(damages));
    bar.at(sessions + records, length);
    query.after = page.last;
    query.after_record = page.last_record;
    more = page.more;
  }
  bar.clear();
  const auto corrupt = static_cast<std::size_t>(
    std::count_if(damages.begin(), damages.end(), [](const damage& x) {
      return x.kind == damage_kind::corrupt;
    }));
  const auto missing = damages.size() - corrupt;
  if (t.as_json()) {
    document all;
    all["sessions"] = sessions;
    all["records"] = records;
    all["corrupt"] = corrupt;
    all["missing"] = missing;
    all["damages"] = document_of(damages);
    t.out().json_line(all);
  } else {
    print_damages(t, damages);
    t.out().line(
      fmt::format("{} and {} were checked: {}.", counted(sessions, "session"),
                  counted(records, "snapshot"),
                  damages.empty()
                    ? std::string{"nothing is damaged"}
                    : fmt::format("{} corrupt, {} missing", corrupt, missing)));
  }
  return code_of(damages);
}

} // namespace

void add_verify(CLI::App& root, command& chosen) {
  auto [x, o] = add_command<session_choice>(
    root, chosen, "verify",
    "Check all data of a store and list what is damaged", verify);
  add_value(x, "SESSION", o.session, "", "Only this session");
  add_agent(x, o.agent);
}

} // namespace tertulia::tool
