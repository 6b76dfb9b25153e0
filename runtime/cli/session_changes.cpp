// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/status.hpp>

#include "ask_first.hpp"
#include "commands.hpp"
#include "failure.hpp"
#include "finder.hpp"
#include "text.hpp"
#include <fmt/format.h>

namespace tertulia::tool {

namespace {

struct delete_options {
  std::string session;
  std::string agent;
  bool yes = false;
};

/// Asks for confirmation before a session is erased, and returns the session.
/// If its row is damaged, only its agent and id are known.
session_info ask_to_erase(tool& t, const delete_options& o) {
  try {
    auto info = finder{t, o.agent}.session(o.session);
    ask_first(t,
              fmt::format("Erase {} with {} and {} for good?", name_of(info),
                          counted(info.records, "snapshot"),
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
  ask_first(t,
            fmt::format("Erase {}, which is damaged, for good?", name_of(info)),
            o.yes);
  return info;
}

exit_code erase(tool& t, const delete_options& o) {
  const auto info = ask_to_erase(t, o);
  const auto gone = t.store().ask<erase_result>(
    delete_session_request{{info.agent, info.id}});
  if (t.as_json())
    t.out().json_line(document{{"agent", info.agent},
                               {"session", info.id.str()},
                               {"records", gone.records},
                               {"states", gone.states}});
  else
    t.out().line(fmt::format("Erased {} with {}.", name_of(info),
                             counted(gone.records, "snapshot")));
  return exit_code::fine;
}

struct fork_options {
  std::string session;
  std::string agent;
  std::string name;
  std::string at;
  std::string to_agent;
};

exit_code fork(tool& t, const fork_options& o) {
  finder find{t, o.agent};
  const auto info = find.session(o.session);
  copy_session_request copy{{info.agent, info.id},
                            {o.to_agent.empty() ? info.agent : o.to_agent,
                             session_id{o.name}}};
  if (!o.at.empty())
    copy.up_to = finder{t, info.agent}.snapshot(o.at, info.id.str()).sequence;
  const auto made = t.store().ask<session_info>(copy);
  if (t.as_json())
    t.out().json_line(document_of(made));
  else
    t.out().line(fmt::format("Made {} with {} from {}.", name_of(made),
                             counted(made.records, "snapshot"), name_of(info)));
  return exit_code::fine;
}

struct title_options {
  std::string session;
  std::string agent;
  std::string title;
};

exit_code title(tool& t, const title_options& o) {
  const auto info = finder{t, o.agent}.session(o.session);
  const auto now = t.store().ask<session_info>(
    title_session_request{{info.agent, info.id}, o.title});
  if (t.as_json())
    t.out().json_line(document_of(now));
  else if (now.title.empty())
    t.out().line(fmt::format("The {} has no title.", name_of(now)));
  else
    t.out().line(fmt::format("The {} is titled \"{}\".", name_of(now),
                             one_line(now.title)));
  return exit_code::fine;
}

} // namespace

void add_session_changes(CLI::App& sessions, command& chosen) {
  {
    auto& x = *sessions.add_subcommand(
      "delete", "Erase a session with all its snapshots, for good");
    auto o = std::make_shared<delete_options>();
    add_session(x, o->session, o->agent);
    x.add_flag("-y,--yes", o->yes, "Do not ask");
    when_chosen(x, chosen, o, erase);
  }
  {
    auto& x = *sessions.add_subcommand(
      "fork", "Copy a session, as a whole or up to a snapshot; each of the two "
              "goes on by itself");
    auto o = std::make_shared<fork_options>();
    add_session(x, o->session, o->agent);
    x.add_option("NEW", o->name, "Id of the copy")->required()->type_name("");
    x.add_option("--at", o->at,
                 "The snapshot at which the copy ends: SESSION@SEQUENCE, an id "
                 "or its beginning")
      ->type_name("SNAPSHOT");
    x.add_option("--to-agent", o->to_agent, "Give the copy to another agent")
      ->type_name("KEY");
    when_chosen(x, chosen, o, fork);
  }
  {
    auto& x = *sessions.add_subcommand("title", "Give a session a title");
    auto o = std::make_shared<title_options>();
    add_session(x, o->session, o->agent);
    x.add_option("TEXT", o->title, "The title; \"\" for none")
      ->required()
      ->type_name("");
    when_chosen(x, chosen, o, title);
  }
}

} // namespace tertulia::tool
