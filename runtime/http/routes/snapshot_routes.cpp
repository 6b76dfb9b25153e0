// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/json.hpp>

#include <optional>
#include <utility>
#include <vector>

#include "message/error_body.hpp"
#include "router.hpp"
#include "talk/open_body.hpp"
#include "talk/stored_conversation.hpp"

// Snapshots of a session in its store.

namespace tertulia::web {

namespace {

/// Body of a request that changes what people have written on a snapshot.
struct note_body {
  std::vector<std::string> add; ///< labels
  std::vector<std::string> remove;
  std::optional<std::string> note;
};

BOOST_DESCRIBE_STRUCT(note_body, (), (add, remove, note))

// Not in coroutines: g++ 12 does not compile such lists there.

std::string text_of(const stored_conversation& of, const stored_snapshot& x) {
  return of.leaving(
    {{"snapshot", to_json(x.record)}, {"state", of.client_state(x.content)}});
}

std::string text_of(const stored_conversation& of, const snapshot_page& x) {
  auto snapshots = json::array();
  for (const auto& one : x.snapshots)
    snapshots.push_back(to_json(one.record));
  return of.leaving({{"snapshots", std::move(snapshots)},
                     {"damages", to_json(x.damages)},
                     {"more", x.more}});
}

std::string diff_of(const stored_conversation& of,
                    const stored_snapshot& before,
                    const stored_snapshot& after) {
  return of.leaving({{"before", to_json(before.record)},
                     {"after", to_json(after.record)},
                     {"patch", json::diff(of.client_state(before.content),
                                          of.client_state(after.content))}});
}

net::awaitable<void> list_snapshots(server_core& server, exchange& x,
                                    const std::string& key,
                                    const session_id& session) {
  const stored_conversation of{server, x, key, "listSnapshots", session};
  list_snapshots_request question{of.session(session)};
  question.with_orphans = of.branches() || x.place.get("orphans") == "true";
  question.after = x.place.number("after").value_or(0);
  question.limit = limit_of(x.place);
  const auto page = co_await of.ask_store(std::move(question));
  co_await x.reply(json_response(http::status::ok, text_of(of, page)));
}

} // namespace

} // namespace tertulia::web

template <>
inline constexpr bool
  tertulia::refuses_unknown_members<tertulia::web::note_body> = true;

namespace tertulia::web {

net::awaitable<void> show_snapshots(server_core& server, exchange& x,
                                    std::string key) {
  const session_id session{x.place.get("session")};
  const auto id = x.place.get("snapshot");
  if (id.empty())
    co_return co_await list_snapshots(server, x, key, session);
  const stored_conversation of{server, x, key, "getSnapshot", session};
  const auto found
    = co_await of.ask_store(get_snapshot_request{of.find(id, session)});
  co_await x.reply(json_response(http::status::ok, text_of(of, found)));
}

net::awaitable<void> change_snapshot(server_core& server, exchange& x,
                                     std::string key) {
  auto body = from_json<note_body>(read_document(x.request.body()));
  const session_id session{x.place.get("session")};
  const stored_conversation of{server, x, key, "changeSnapshot", session};
  const auto target = of.find(x.place.get("snapshot"), session);
  auto record = co_await of.find_record(target);
  if (!body.add.empty() || !body.remove.empty()) {
    label_snapshot_request question{target};
    question.add = std::move(body.add);
    question.remove = std::move(body.remove);
    record = co_await of.ask_store(std::move(question));
  }
  if (body.note)
    record
      = co_await of.ask_store(annotate_snapshot_request{target, *body.note});
  co_await x.reply(
    json_response(http::status::ok, of.leaving(to_json(record))));
}

net::awaitable<void> compare_snapshots(server_core& server, exchange& x,
                                       std::string key) {
  const session_id session{x.place.get("session")};
  const stored_conversation of{server, x, key, "getSnapshot", session};
  const auto before = co_await of.ask_store(
    get_snapshot_request{of.find(x.place.get("before"), session)});
  const auto after = co_await of.ask_store(
    get_snapshot_request{of.find(x.place.get("after"), session)});
  co_await x.reply(json_response(http::status::ok, diff_of(of, before, after)));
}

} // namespace tertulia::web
