// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/ai/message.hpp>
#include <tertulia/json.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "commands.hpp"
#include "finder.hpp"
#include "output/cursor.hpp"
#include "output/shown_text.hpp"
#include "output/table.hpp"
#include "output/units.hpp"
#include "tool_failure.hpp"
#include <fmt/format.h>

namespace tertulia::tool {

namespace {

// -- list ---------------------------------------------------------------------

struct list_options {
  std::string agent;
  std::string label;
  std::string since;
  std::string until;
  std::string after;
  std::uint64_t limit = 0;
  bool only_ids = false;
};

exit_code print_sessions(tool& t, const list_options& o) {
  list_sessions_request query;
  query.agent = o.agent;
  query.label = o.label;
  query.updated_since = caf::timestamp::min();
  if (!o.since.empty())
    query.updated_since = parse_time("--since", o.since);
  const auto until
    = o.until.empty() ? caf::timestamp::max() : parse_time("--until", o.until);
  if (!o.after.empty())
    query.after = session_of_cursor(o.after);

  table rows{t.out(),
             {{"AGENT", column_kind::text},
              {"SESSION", column_kind::text},
              {"ABOUT", column_kind::text},
              {"SNAPSHOTS", column_kind::number},
              {"MESSAGES", column_kind::number},
              {"SIZE", column_kind::number},
              {"CHANGED", column_kind::fixed}}};
  std::uint64_t shown_so_far = 0;
  session_ref last;
  auto more = false;
  const auto print = [&](const session_info& x) {
    if (o.only_ids && !t.as_json()) {
      t.out().line(shown(x.id.str()));
    } else if (t.as_json()) {
      auto line = document_of(x);
      line["cursor"] = cursor_of({x.agent, x.id});
      t.out().json_line(line);
    } else {
      rows.row({shown(x.agent), shown(x.id.str()), heading_of(x),
                std::to_string(x.records), std::to_string(x.messages),
                human_size(x.bytes), local_time(x.updated_at)});
    }
  };
  const auto damages
    = t.store().each_session(query, [&](const session_info& x) {
        if (x.updated_at >= until)
          return true;
        more = o.limit != 0 && shown_so_far == o.limit;
        if (more)
          return false;
        print(x);
        last = {x.agent, x.id};
        if (++shown_so_far % query.limit == 0) {
          rows.print();
          t.out().flush();
        }
        return true;
      });
  rows.print();
  if (!t.as_json() && !o.only_ids) {
    if (shown_so_far == 0)
      remark("No session matches.");
    else if (more)
      remark(fmt::format("There are more: add --after '{}'.", cursor_of(last)));
  }
  t.out().flush();
  expect_none(damages);
  return exit_code::fine;
}

// -- show ---------------------------------------------------------------------

struct show_options : session_choice {
  std::uint64_t messages = 10;
};

/// Returns one part of a message as text for people.
std::string plain_text(const ai::part& x) {
  if (const auto* text = x.as_text())
    return text->text;
  if (const auto* thought = x.as_reasoning())
    return fmt::format("({})", thought->reasoning);
  return to_json_text(x);
}

std::string plain_text(const ai::message& x) {
  std::string result;
  for (const auto& part : x.content) {
    if (!result.empty())
      result += '\n';
    result += plain_text(part);
  }
  return result;
}

void print(output& to, const ai::message_log& log, std::size_t first) {
  std::size_t number = first;
  for (const auto& x : log.from(first)) {
    to.line("");
    to.line(
      fmt::format("#{} {}", number++, to_json(x.role).get<std::string>()));
    auto text = shown_lines(plain_text(x));
    for (std::size_t at = 0; at <= text.size();) {
      const auto end = std::min(text.find('\n', at), text.size());
      to.line(fmt::format("  {}", text.substr(at, end - at)));
      at = end + 1;
    }
  }
}

/// Returns the record of a session's head; empty if the session has no readable
/// head.
std::optional<snapshot_record> head_of(tool& t, const session_info& x) {
  auto found = t.store()
                 .ask<stored_session>(
                   get_session_request{{x.agent, x.id}, detail_level::record})
                 .head;
  if (!found)
    return std::nullopt;
  return std::move(found.record);
}

std::string name_of_damaged_head(const session_info& x) {
  return x.head == 0 ? std::string{"none"}
                     : fmt::format("{}, which is damaged", x.head);
}

void print_json(tool& t, const session_info& info,
                const std::optional<snapshot_record>& head,
                std::uint64_t orphans, const std::optional<state>& content,
                std::size_t first) {
  document all;
  all["session"] = document_of(info);
  all["head"] = head ? document_of(*head) : document{};
  all["orphans"] = orphans;
  if (content) {
    auto parts = document_of(*content);
    if (content->form() == state_form::plain) {
      all["state"] = std::move(parts);
    } else {
      auto& last = all["lastMessages"] = document::array();
      for (const auto& x : content->messages().from(first))
        last.push_back(document_in(to_json_text(x)));
      for (const auto* name : {"custom", "artifacts"})
        if (parts.contains(name))
          all[name] = std::move(parts[name]);
    }
  }
  t.out().json_line(all);
}

void print_text(tool& t, const session_info& info,
                const std::optional<snapshot_record>& head,
                std::uint64_t orphans, const std::optional<state>& content,
                std::size_t first) {
  std::vector<std::pair<std::string, std::string>> fields{
    {"session", shown(info.id.str())},
    {"agent", shown(info.agent)},
    {"title", info.title},
    {"preview", info.preview},
    {"created", exact_time(info.created_at)},
    {"changed", exact_time(info.updated_at)},
    {"head", head ? fmt::format(
               "{}  {}  {}, turn {}", name_of(*head), short_id(head->id),
               to_json(head->event).get<std::string>(), head->turn_index)
                  : name_of_damaged_head(info)},
    {"next turn", std::to_string(info.next_turn)},
    {"snapshots",
     fmt::format("{}{}", info.records,
                 orphans == 0 ? std::string{}
                              : fmt::format(", {} of them orphaned", orphans))},
    {"messages", fmt::format("{}, {}", info.messages, human_size(info.bytes))},
  };
  if (content && content->form() == state_form::conversation) {
    fields.emplace_back("custom", content->custom().text());
    std::string names;
    for (const auto& x : content->artifacts())
      names += fmt::format("{}{}", names.empty() ? "" : ", ",
                           x.name.empty() ? "(no name)" : shown(x.name));
    fields.emplace_back("artifacts", names);
  }
  print_fields(t.out(), fields);
  if (!content)
    return;
  if (content->form() == state_form::plain) {
    t.out().line("");
    t.out().write(pretty_text_of(document_of(*content)) + '\n');
    return;
  }
  const auto size = content->messages().size();
  if (first < size) {
    t.out().line("");
    t.out().line(
      fmt::format("the last {} of {}", size - first, counted(size, "message")));
    print(t.out(), content->messages(), first);
  }
}

exit_code print_session(tool& t, const show_options& o) {
  const auto info = find_session(t, o);
  const session_ref session{info.agent, info.id};
  const auto head = head_of(t, info);
  std::uint64_t orphans = 0;
  const auto damages
    = t.store().each_record(session, [&](const snapshot_record& x) {
        orphans += x.orphaned ? 1 : 0;
        return true;
      });
  // Damaged content must not hide intact content.
  std::optional<state> content;
  std::optional<failure> damage;
  try {
    content
      = t.store().ask<stored_session>(get_session_request{session}).content;
  } catch (const status_error& x) {
    if (x.code() != errc::data_loss)
      throw;
    damage.emplace(x, "\"tertulia verify\" looks for more damage.");
  }
  const auto size = content ? content->messages().size() : 0;
  const auto first = size - std::min<std::uint64_t>(size, o.messages);
  const auto print = t.as_json() ? print_json : print_text;
  print(t, info, head, orphans, content, first);
  if (damage) {
    t.out().flush();
    throw failure{*damage};
  }
  t.out().flush();
  expect_none(damages);
  return exit_code::fine;
}

} // namespace

void add_session_views(CLI::App& sessions, command& chosen) {
  {
    auto [x, o] = add_command<list_options>(
      sessions, chosen, "list",
      "List sessions, by agent and id; with --json one line for each",
      print_sessions);
    add_agent(x, o.agent);
    add_value(x, "--label", o.label, "LABEL",
              "Only sessions with a snapshot of this label");
    add_value(
      x, "--since", o.since, "TIME",
      "Only sessions that changed at this time or later: 2026-11-21, "
      "\"2026-11-21 19:04\" (local time), RFC 3339, or 7d for 7 days ago");
    add_value(x, "--until", o.until, "TIME",
              "Only sessions that changed before this time");
    add_value(x, "--limit", o.limit, "N", "Maximum number of sessions")
      .check(CLI::PositiveNumber.description(""));
    add_value(
      x, "--after", o.after, "CURSOR",
      "Continue after this cursor, which the previous page has printed");
    x.add_flag("-q,--quiet", o.only_ids, "Print ids only");
  }
  {
    auto [x, o] = add_command<show_options>(
      sessions, chosen, "show",
      "Show the details of a session and its last messages", print_session);
    add_session(x, o);
    add_value(x, "--messages", o.messages, "N",
              "Number of messages to print, from the end")
      .capture_default_str();
  }
}

} // namespace tertulia::tool
