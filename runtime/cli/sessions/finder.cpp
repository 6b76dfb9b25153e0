// SPDX-License-Identifier: BSD-3-Clause

#include "finder.hpp"

#include <tertulia/json.hpp>
#include <tertulia/status.hpp>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <iterator>
#include <optional>
#include <utility>

#include "output/shown_text.hpp"
#include "tool_failure.hpp"
#include <fmt/format.h>

namespace tertulia::tool {

namespace {

constexpr std::size_t shortest_prefix = 4;
constexpr std::size_t short_size = 12;

/// Maximum number of candidates listed for an ambiguous name.
constexpr std::size_t most_candidates = 8;

std::string quoted(const std::string& x) {
  return fmt::format("\"{}\"", shown(x));
}

/// Returns the result of the function; empty if it fails with `not_found`.
template <class Fn>
auto if_there(Fn fn) -> std::optional<decltype(fn())> {
  try {
    return fn();
  } catch (const status_error& x) {
    if (x.code() == errc::not_found)
      return std::nullopt;
    throw;
  }
}

[[noreturn]] void reject_ambiguous(const std::string& what,
                                   const std::string& advice,
                                   const std::vector<std::string>& candidates,
                                   const document& details) {
  auto text = advice;
  for (std::size_t i = 0; i < candidates.size() && i < most_candidates; ++i)
    text += fmt::format("\n  {}", candidates[i]);
  if (candidates.size() > most_candidates)
    text += "\n  …";
  throw failure{
    exit_code::usage,
    status_error{errc::failed_precondition, what,
                 text_of(document::object({{"candidates", details}}))},
    text};
}

/// Splits `SESSION@SEQUENCE`.
std::optional<std::pair<std::string, std::uint64_t>>
session_and_sequence(const std::string& name) {
  const auto at = name.rfind('@');
  if (at == std::string::npos || at == 0)
    return std::nullopt;
  std::uint64_t sequence = 0;
  const auto* end = name.data() + name.size();
  const auto [last, error]
    = std::from_chars(name.data() + at + 1, end, sequence);
  if (error != std::errc{} || last != end || sequence == 0)
    return std::nullopt;
  return std::pair{name.substr(0, at), sequence};
}

/// Returns whether a name may be the prefix of a longer id.
bool may_be_prefix(const std::string& name) {
  constexpr std::size_t uuid_size = 36;
  constexpr std::size_t hash_size = 64;
  return name.size() >= shortest_prefix
         && name.find_first_not_of("0123456789abcdef-") == std::string::npos
         && name.size() < hash_size
         && !(name.size() == uuid_size && name.find('-') != std::string::npos);
}

} // namespace

finder::finder(tool& t, std::string agent)
  : tool_(t), agent_(std::move(agent)) {}

std::vector<std::string> finder::agents() {
  if (!agent_.empty())
    return {agent_};
  std::vector<std::string> result;
  const auto add = [&](const std::string& agent) {
    if (std::find(result.begin(), result.end(), agent) == result.end())
      result.push_back(agent);
  };
  list_sessions_request x;
  x.updated_since = caf::timestamp::min();
  x.limit = 1;
  for (;;) {
    const auto page = tool_.store().ask<session_page>(x);
    for (const auto& y : page.damages)
      add(y.where.agent); // reported when the session is read
    if (page.sessions.empty())
      return result;
    const auto& agent = page.sessions.front().agent;
    add(agent);
    // Skips all sessions of this agent: the smallest key of a next agent.
    x.after = {agent + '\0', session_id{}};
  }
}

std::vector<session_info> finder::sessions(const std::string& id) {
  std::vector<session_info> result;
  if (id.empty())
    return result;
  for (const auto& agent : agents())
    if (auto x = if_there([&] {
          return tool_.store().ask<stored_session>(
            get_session_request{{agent, session_id{id}}, detail_level::record});
        }))
      result.push_back(std::move(x->info));
  // Some ids cannot be typed, only copied in the form that is shown.
  if (!result.empty() || id.find('\\') == std::string::npos)
    return result;
  // Ignores damaged sessions, because their names cannot be read.
  (void)tool_.store().each_session(agent_, [&](const session_info& x) {
    if (shown(x.id.str()) == id)
      result.push_back(x);
    return true;
  });
  return result;
}

std::vector<session_info>
finder::sessions_with_prefix(const std::string& prefix) {
  std::vector<session_info> result;
  for (const auto& agent : agents()) {
    list_sessions_request x;
    x.agent = agent;
    x.updated_since = caf::timestamp::min();
    x.after = {agent, session_id{prefix}};
    for (auto& y : tool_.store().ask<session_page>(x).sessions)
      if (y.id.str().starts_with(prefix))
        result.push_back(std::move(y));
  }
  return result;
}

session_info finder::session(const std::string& id) {
  auto found = sessions(id);
  if (found.size() == 1)
    return std::move(found.front());
  if (found.empty())
    throw failure{
      status_error{errc::not_found,
                   fmt::format("there is no session {}{}{}", quoted(id),
                               agent_.empty() ? "" : " of ", shown(agent_)),
                   text_of(document::object({{"session", id}}))},
      "\"tertulia sessions list\" lists all sessions."};
  std::vector<std::string> names;
  auto details = document::array();
  for (const auto& x : found) {
    names.push_back(fmt::format("--agent {}", shown(x.agent)));
    details.push_back({{"agent", x.agent}, {"session", x.id.str()}});
  }
  reject_ambiguous(fmt::format("several agents have a session {}", quoted(id)),
                   "Name one:", names, details);
}

snapshot_record finder::snapshot(const std::string& name,
                                 const std::string& within) {
  std::vector<snapshot_record> found;
  add_by_session(found, name, within);
  // A session id can look like the prefix of a snapshot id. The name is then
  // ambiguous.
  if (found.empty() || may_be_prefix(name))
    add_by_id(found, name, within);
  if (may_be_prefix(name))
    add_by_prefix(found, name, within);
  report_damages(!found.empty(),
                 fmt::format("there is no snapshot {}", quoted(name)));
  if (found.size() == 1)
    return std::move(found.front());
  if (found.empty()) {
    auto advice = std::string{
      "\"tertulia snapshots list SESSION\" lists those of a session."};
    if (name.size() < shortest_prefix)
      advice += " The beginning of an id needs 4 characters.";
    throw failure{
      status_error{errc::not_found,
                   fmt::format("there is no snapshot {}{}", quoted(name),
                               within.empty() ? std::string{}
                                              : fmt::format(" in session {}",
                                                            quoted(within))),
                   text_of(document::object({{"snapshot", name}}))},
      advice};
  }
  std::vector<std::string> names;
  auto details = document::array();
  for (const auto& x : found) {
    names.push_back(
      fmt::format("{}  {}  of {}", name_of(x), short_id(x.id), shown(x.agent)));
    details.push_back({{"agent", x.agent},
                       {"session", x.session.str()},
                       {"sequence", x.sequence},
                       {"id", x.id.str()}});
  }
  reject_ambiguous(
    fmt::format("several snapshots could be meant by {}", quoted(name)),
    "Name one as SESSION@SEQUENCE, if necessary with --agent:", names, details);
}

snapshot_record finder::read(const snapshot_ref& x) {
  return tool_.store()
    .ask<stored_snapshot>(get_snapshot_request{x, detail_level::record})
    .record;
}

void finder::add(std::vector<snapshot_record>& to, snapshot_record x) {
  const auto same = [&](const snapshot_record& y) {
    return y.agent == x.agent && y.session == x.session && y.id == x.id;
  };
  if (std::none_of(to.begin(), to.end(), same))
    to.push_back(std::move(x));
}

void finder::add_by_session(std::vector<snapshot_record>& to,
                            const std::string& name,
                            const std::string& within) {
  const auto is_within
    = [&](const std::string& id) { return within.empty() || id == within; };
  if (const auto parts = session_and_sequence(name);
      parts && is_within(parts->first))
    for (const auto& x : sessions(parts->first))
      if (auto y = if_there([&] {
            return read({{x.agent, x.id}, parts->second});
          }))
        to.push_back(*std::move(y));
  if (!to.empty() || !is_within(name))
    return;
  for (const auto& x : sessions(name))
    if (x.head != 0)
      to.push_back(read({{x.agent, x.id}, x.head}));
}

void finder::add_by_id(std::vector<snapshot_record>& to, const std::string& id,
                       const std::string& within) {
  const auto get = [&](const std::string& agent, const std::string& session) {
    return if_there([&] {
      return read({agent, session_id{session}, snapshot_id{id}});
    });
  };
  if (id.empty())
    return;
  for (const auto& agent : agents()) {
    try {
      if (auto x = get(agent, within))
        add(to, *std::move(x));
    } catch (const status_error& x) {
      if (x.code() != errc::failed_precondition)
        throw;
      // The id is in several sessions, some of which the details list.
      const auto details = detail::document_or_null(x.details());
      if (!details.is_object() || !details.contains("sessions"))
        throw;
      for (const auto& session : details["sessions"])
        if (auto y = get(agent, session.get<std::string>()))
          add(to, *std::move(y));
    }
  }
}

void finder::add_by_prefix(std::vector<snapshot_record>& to,
                           const std::string& id, const std::string& within) {
  auto bar = tool_.show_progress("looking for the snapshot");
  std::uint64_t seen = 0;
  const auto enough = [&] { return to.size() > most_candidates; };
  const auto keep = [&](std::vector<damage> damages) {
    std::move(damages.begin(), damages.end(), std::back_inserter(damages_));
  };
  const auto look = [&](const session_info& x) {
    std::vector<snapshot_id> ids;
    keep(tool_.store().each_record({x.agent, x.id}, [&](const auto& record) {
      if (record.id.str().starts_with(id)
          && std::find(ids.begin(), ids.end(), record.id) == ids.end())
        ids.push_back(record.id);
      return true;
    }));
    for (const auto& y : ids) // the store picks the record of each id
      add(to, read({x.agent, x.id, y}));
    bar.at(++seen, 0);
    return !enough();
  };
  if (!within.empty()) {
    for (const auto& x : sessions(within))
      look(x);
    return;
  }
  keep(tool_.store().each_session(agent_, look));
}

void finder::report_damages(bool is_found, const std::string& absence) const {
  if (damages_.empty())
    return;
  if (!is_found)
    throw failure{status_error{errc::data_loss,
                               fmt::format("{} that can be read: {}", absence,
                                           summary_of(damages_))},
                  "\"tertulia verify\" looks for more damage."};
  if (!tool_.as_json())
    remark(fmt::format("Damaged data was skipped: {}.", summary_of(damages_)));
}

session_info find_session(tool& t, const session_choice& x) {
  return finder{t, x.agent}.session(x.session);
}

snapshot_record find_snapshot(tool& t, const snapshot_choice& x) {
  return finder{t, x.agent}.snapshot(x.name, x.session);
}

std::string short_id(const snapshot_id& x) {
  return shown(x.str().substr(0, short_size));
}

std::string name_of(const stored_type& x) {
  if (x.empty())
    return "no type";
  return fmt::format("{}{}version {}", x.name(), x.name().empty() ? "" : " ",
                     x.version());
}

std::string name_of(const session_info& x) {
  return fmt::format("session {} of {}", shown(x.id.str()), shown(x.agent));
}

std::string heading_of(const session_info& x) {
  return !x.title.empty() || x.preview.empty() ? x.title
                                               : fmt::format("“{}”", x.preview);
}

std::string name_of(const snapshot_record& x) {
  return shown(x.session.str()) + '@' + std::to_string(x.sequence);
}

} // namespace tertulia::tool
