// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/status.hpp>

#include <algorithm>
#include <vector>

#include "chat_commands.hpp"
#include "output/shown_text.hpp"
#include "output/table.hpp"
#include "output/units.hpp"
#include "sessions/finder.hpp"
#include "tool_failure.hpp"
#include <fmt/format.h>

namespace tertulia::tool {

namespace {

constexpr const char* all_sessions
  = "/sessions in the chat lists all conversations.";

} // namespace

session_info find_chat_session(tool& t, const std::string& agent,
                               const std::string& id) {
  finder find{t, agent};
  auto found = find.sessions(id);
  if (found.empty())
    found = find.sessions_with_prefix(id);
  if (found.empty())
    throw failure{
      status_error{errc::not_found,
                   fmt::format("there is no conversation \"{}\"", shown(id))},
      all_sessions};
  if (found.size() > 1)
    reject_usage(
      fmt::format("the ids of several conversations begin with \"{}\"",
                  shown(id)),
      all_sessions);
  return found.front();
}

std::optional<session_info> last_chat_session(tool& t,
                                              const std::string& agent) {
  list_sessions_request x;
  x.agent = agent;
  x.updated_since = caf::timestamp::min();
  x.limit = 1;
  x.order = session_order::by_change;
  auto page = t.store().ask<session_page>(x);
  for (const auto& y : page.damages)
    remark(y.what);
  if (page.sessions.empty())
    return std::nullopt;
  return std::move(page.sessions.front());
}

void chat_show_session(chat& x) {
  const auto info = x.info();
  auto& out = x.environment().out();
  if (x.environment().as_json()) {
    if (info)
      out.json_line(document_of(*info));
    else
      out.json_line(
        {{"agent", x.session().agent}, {"id", to_string(x.session().id)}});
    return;
  }
  std::vector<std::pair<std::string, std::string>> fields{
    {"session", shown(to_string(x.session().id))},
    {"title", info ? info->title : ""},
    {x.agent().models() != nullptr ? "model" : "agent",
     shown(x.agent().name())},
    {"snapshots", info ? fmt::format("{}, here: {}", info->records, info->head)
                       : std::string{"none yet"}},
    {"messages", info ? std::to_string(info->messages) : "none yet"},
    {"begun", info ? exact_time(info->created_at) : ""},
    {"store", shown(x.environment().store().place())},
  };
  print_fields(out, fields);
}

void chat_show_sessions(chat& x) {
  std::vector<session_info> all;
  const auto damages = x.environment().store().each_session(
    x.session().agent, [&](const session_info& y) {
      all.push_back(y);
      return true;
    });
  for (const auto& y : damages)
    remark(y.what);
  std::sort(all.begin(), all.end(),
            [](const session_info& a, const session_info& b) {
              return a.updated_at > b.updated_at;
            });
  auto& out = x.environment().out();
  table rows{out,
             {{"", column_kind::fixed},
              {"SESSION", column_kind::fixed},
              {"MESSAGES", column_kind::number},
              {"CHANGED", column_kind::fixed},
              {"ABOUT", column_kind::text}}};
  for (const auto& y : all) {
    if (x.environment().as_json())
      out.json_line(document_of(y));
    else
      rows.row({y.id == x.session().id ? "*" : "", shown(y.id.str()),
                std::to_string(y.messages), local_time(y.updated_at),
                heading_of(y)});
  }
  rows.print();
  if (all.empty())
    x.tell("There are no conversations yet.");
}

void chat_resume(chat& x, const std::string& id) {
  const auto found = find_chat_session(x.environment(), x.session().agent, id);
  x.pause();
  try { // Makes it the session that was changed last.
    x.environment().store().ask<stored_snapshot>(restore_snapshot_request{
      snapshot_ref{{found.agent, found.id}, found.head}});
  } catch (const status_error& y) {
    if (y.code() != errc::data_loss)
      throw; // reported by go_to, with advice for the user
  }
  x.tell(fmt::format("Continuing {}, {}.", one_line(heading_of(found)),
                     counted(found.messages, "message")));
  x.go_to(found);
}

} // namespace tertulia::tool
