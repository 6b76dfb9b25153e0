// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/json.hpp>
#include <tertulia/session_exporter.hpp>

#include <optional>
#include <utility>

#include "message/error_body.hpp"
#include "router.hpp"
#include "talk/open_body.hpp"
#include "talk/stored_conversation.hpp"

// Sessions of a conversation in its store.

namespace tertulia::web {

namespace {

/// Body of a request that makes a session from another one.
struct copy_body {
  std::string session; ///< id of the copy
  std::string from;
  /// Last snapshot of the copy: its id or its number; empty for all.
  std::optional<std::string> at;
};

BOOST_DESCRIBE_STRUCT(copy_body, (), (session, from, at))

/// Body of a request that changes a session.
struct change_body {
  std::optional<std::string> title;
  /// Snapshot that becomes the head: its id or its number.
  std::optional<std::string> head;
};

BOOST_DESCRIBE_STRUCT(change_body, (), (title, head))

// Not in coroutines: g++ 12 does not compile such lists there.

std::string text_of(const stored_conversation& of, const stored_session& x) {
  json result{{"session", to_json(x.info)},
              {"state", of.client_state(x.content)}};
  if (x.head)
    result["head"] = to_json(x.head.record);
  return of.leaving(std::move(result));
}

/// Returns a page of the sessions of a caller.
std::string text_of(const stored_conversation& of, const session_page& x) {
  auto sessions = json::array();
  auto damages = json::array();
  for (const auto& one : x.sessions)
    if (of.is_own(one.id))
      sessions.push_back(to_json(one));
  for (const auto& one : x.damages)
    if (of.is_own(one.where.id))
      damages.push_back(to_json(one));
  const auto more = x.more && sessions.size() == x.sessions.size();
  return of.leaving({{"sessions", std::move(sessions)},
                     {"damages", std::move(damages)},
                     {"more", more}});
}

net::awaitable<void> list_sessions(server_core& server, exchange& x,
                                   const std::string& key) {
  const stored_conversation of{server, x, key, "listSessions"};
  list_sessions_request question;
  question.agent = of.key();
  question.label = x.place.get("label");
  question.after = of.first_of_list(session_id{x.place.get("after")});
  question.limit = limit_of(x.place);
  const auto page = co_await of.ask_store(std::move(question));
  co_await x.reply(json_response(http::status::ok, text_of(of, page)));
}

} // namespace

} // namespace tertulia::web

template <>
inline constexpr bool
  tertulia::refuses_unknown_members<tertulia::web::copy_body> = true;

template <>
inline constexpr bool
  tertulia::refuses_unknown_members<tertulia::web::change_body> = true;

namespace tertulia::web {

net::awaitable<void> show_sessions(server_core& server, exchange& x,
                                   std::string key) {
  const session_id session{x.place.get("session")};
  if (session.empty())
    co_return co_await list_sessions(server, x, key);
  const stored_conversation of{server, x, key, "getSession", session};
  const auto found
    = co_await of.ask_store(get_session_request{of.session(session)});
  co_await x.reply(json_response(http::status::ok, text_of(of, found)));
}

net::awaitable<void> copy_session(server_core& server, exchange& x,
                                  std::string key) {
  const auto body = from_json<copy_body>(read_document(x.request.body()));
  const session_id from{body.from};
  const stored_conversation of{server, x, key, "copySession", from};
  of.authorize(session_id{body.session});
  copy_session_request question{of.session(from),
                                of.session(session_id{body.session})};
  if (body.at)
    question.up_to
      = (co_await of.find_record(of.find(*body.at, from))).sequence;
  const auto made = co_await of.ask_store(std::move(question));
  co_await x.reply(
    json_response(http::status::created, of.leaving(to_json(made))));
}

net::awaitable<void> change_session(server_core& server, exchange& x,
                                    std::string key) {
  const auto body = from_json<change_body>(read_document(x.request.body()));
  const session_id session{x.place.get("session")};
  const stored_conversation of{server, x, key, "changeSession", session};
  const auto target = of.session(session);
  if (body.head)
    static_cast<void>(co_await of.ask_store(
      restore_snapshot_request{of.find(*body.head, session)}));
  if (body.title)
    static_cast<void>(
      co_await of.ask_store(title_session_request{target, *body.title}));
  const auto now
    = co_await of.ask_store(get_session_request{target, detail_level::record});
  co_await x.reply(
    json_response(http::status::ok, of.leaving(to_json(now.info))));
}

net::awaitable<void> delete_session(server_core& server, exchange& x,
                                    std::string key) {
  const session_id session{x.place.get("session")};
  const stored_conversation of{server, x, key, "deleteSession", session};
  const auto gone
    = co_await of.ask_store(delete_session_request{of.session(session)});
  co_await x.reply(json_response(http::status::ok, of.leaving(to_json(gone))));
}

// The end of the text proves that it is whole: a client that gets an error in
// the middle hears the end of its connection.
net::awaitable<void> write_session(server_core& server, exchange& x,
                                   std::string key) {
  const session_id session{x.place.get("session")};
  const stored_conversation of{server, x, key, "exportSession", session};
  of.check_whole();
  session_exporter steps{of.session(session)};
  const auto first = co_await of.ask_store(steps.first());
  auto text = steps.begin(first);
  response_message head{http::status::ok};
  head.add("Content-Type", "application/jsonl");
  if (!co_await x.begin(std::move(head)))
    co_return;
  auto is_whole = false;
  try {
    for (;;) {
      const auto is_there = co_await x.write(text);
      if (!is_there)
        co_return;
      if (is_whole)
        break;
      if (steps.has_all()) {
        const auto last = co_await of.ask_store(steps.last());
        text = steps.end(last);
        is_whole = true;
      } else {
        auto page = co_await of.ask_store(steps.next());
        text = steps.add(std::move(page));
      }
    }
  } catch (const status_error&) {
    is_whole = false;
  }
  if (is_whole)
    co_await x.end();
  else
    x.reset();
}

} // namespace tertulia::web
