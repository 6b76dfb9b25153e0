// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/status.hpp>

#include "commands.hpp"
#include "finder.hpp"
#include "output/ask_first.hpp"
#include "output/shown_text.hpp"
#include "tool_failure.hpp"
#include <fmt/format.h>

namespace tertulia::tool {

namespace {

struct delete_options : session_choice {
  bool yes = false;
};

/// Asks for confirmation before a session is erased, and returns the session.
/// If its row is damaged, only its agent and id are known.
session_info ask_to_erase(tool& t, const delete_options& o) {
  try {
    auto info = find_session(t, o);
    ask_first(t,
              fmt::format("Delete {} with {} and {} permanently?",
                          name_of(info), counted(info.records, "snapshot"),
                          counted(info.messages, "message")),
              o.yes);
    return info;
  } catch (const status_error& x) {
    if (x.code() != errc::data_loss || o.agent.empty())
      throw;
  }
  session_info info;
  info.agent = o.agent;
  info.id = session_id{o.session};
  ask_first(
    t, fmt::format("Delete {}, which is damaged, permanently?", name_of(info)),
    o.yes);
  return info;
}

exit_code erase(tool& t, const delete_options& o) {
  const auto info = ask_to_erase(t, o);
  const auto gone = t.store().ask<erase_result>(
    delete_session_request{{info.agent, info.id}});
  t.print(document{{"agent", info.agent},
                   {"session", info.id.str()},
                   {"records", gone.records},
                   {"states", gone.states}},
          fmt::format("Deleted {} with {}.", name_of(info),
                      counted(gone.records, "snapshot")));
  return exit_code::fine;
}

struct fork_options : session_choice {
  std::string name;
  std::string at;
  std::string to_agent;
};

exit_code fork(tool& t, const fork_options& o) {
  const auto info = find_session(t, o);
  copy_session_request copy{{info.agent, info.id},
                            {o.to_agent.empty() ? info.agent : o.to_agent,
                             session_id{o.name}}};
  if (!o.at.empty())
    copy.up_to = finder{t, info.agent}.snapshot(o.at, info.id.str()).sequence;
  const auto made = t.store().ask<session_info>(copy);
  t.print(document_of(made),
          fmt::format("Made {} with {} from {}.", name_of(made),
                      counted(made.records, "snapshot"), name_of(info)));
  return exit_code::fine;
}

struct title_options : session_choice {
  std::string title;
};

exit_code title(tool& t, const title_options& o) {
  const auto info = find_session(t, o);
  const auto now = t.store().ask<session_info>(
    title_session_request{{info.agent, info.id}, o.title});
  t.print(document_of(now),
          now.title.empty() ? fmt::format("The {} has no title.", name_of(now))
                            : fmt::format("The {} is titled \"{}\".",
                                          name_of(now), one_line(now.title)));
  return exit_code::fine;
}

} // namespace

void add_session_changes(CLI::App& sessions, command& chosen) {
  {
    auto [x, o] = add_command<delete_options>(
      sessions, chosen, "delete",
      "Delete a session with all its snapshots permanently", erase);
    add_session(x, o);
    x.add_flag("-y,--yes", o.yes, "Do not ask");
  }
  {
    auto [x, o]
      = add_command<fork_options>(sessions, chosen, "fork",
                                  "Copy a session, as a whole or up to a "
                                  "snapshot; both continue independently",
                                  fork);
    add_session(x, o);
    add_argument(x, "NEW", o.name, "Id of the copy");
    add_value(x, "--at", o.at, "SNAPSHOT",
              "The snapshot at which the copy ends: SESSION@SEQUENCE, an id or "
              "its beginning");
    add_value(x, "--to-agent", o.to_agent, "KEY",
              "Give the copy to another agent");
  }
  {
    auto [x, o] = add_command<title_options>(sessions, chosen, "title",
                                             "Give a session a title", title);
    add_session(x, o);
    add_argument(x, "TEXT", o.title, "The title; \"\" for none");
  }
}

} // namespace tertulia::tool
