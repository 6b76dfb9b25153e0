// SPDX-License-Identifier: BSD-3-Clause

// Sessions and snapshots behind the web server.

#include <tertulia/ask_store.hpp>
#include <tertulia/define_agent.hpp>
#include <tertulia/memory_store.hpp>
#include <tertulia/session_file.hpp>

#include <sstream>
#include <string>
#include <vector>

#include "support/conversations.hpp"
#include "support/has.hpp"
#include "support/web_fixture.hpp"

namespace tertulia::test::web_session_tests {

namespace {

const std::string notes = "/agent/notes";

struct web_sessions : web {
  web_sessions() {
    define_agent(rt, "notes", take_notes, with_snapshot_store(store),
                 each_turn);
  }

  web_client serve_stores(http_server_options options = {}) {
    options.expose = {"/agent/*", "/snapshot-store/*"};
    return serve(std::move(options));
  }

  web_client serve_two() {
    return serve_stores({.tokens = {{"ann", "ann-0123456789abcdef"},
                                    {"bob", "bob-0123456789abcdef"}}});
  }

  static std::string token_of(const std::string& name) {
    return "Authorization: Bearer " + name + "-0123456789abcdef\r\n";
  }

  /// Adds words to a session, one turn each.
  static void say(web_client& at, const std::string& session,
                  std::vector<std::string> words,
                  const std::string& fields = {}) {
    const json body{{"session", session}, {"inputs", std::move(words)}};
    EXPECT_EQ(at.call("POST", "/actions" + notes, body.dump(), fields).status,
              200u);
  }

  static json get(web_client& at, const std::string& target,
                  const std::string& fields = {}) {
    const auto x = at.call("GET", target, {}, fields);
    EXPECT_EQ(x.status, 200u) << target << x.body;
    return x.document();
  }

  managed_store store = spawn_memory_store(system);
};

std::vector<std::string> ids_of(const json& page) {
  std::vector<std::string> result;
  for (const auto& x : page["sessions"])
    result.push_back(x["id"]);
  return result;
}

using texts = std::vector<std::string>;

} // namespace

TEST_F(web_sessions, are_listed_and_shown) {
  auto at = serve_stores();
  for (const auto* id : {"a", "b", "c"})
    say(at, id, {"x", "y"});
  EXPECT_EQ(ids_of(get(at, "/sessions" + notes)), (texts{"a", "b", "c"}));
  const auto first = get(at, "/sessions" + notes + "?limit=2");
  EXPECT_EQ(ids_of(first), (texts{"a", "b"}));
  EXPECT_TRUE(first["more"]);
  const auto second = get(at, "/sessions" + notes + "?limit=2&after=b");
  EXPECT_EQ(ids_of(second), texts{"c"});
  EXPECT_FALSE(second["more"]);
  const auto one = get(at, "/sessions" + notes + "?session=b");
  EXPECT_EQ(one["session"]["records"], 2);
  EXPECT_EQ(one["state"]["words"], "xy");
  EXPECT_EQ(one["head"]["sequence"], 2);
  EXPECT_EQ(at.call("GET", "/sessions" + notes + "?session=none").status, 404u);
}

TEST_F(web_sessions, have_snapshots) {
  auto at = serve_stores();
  say(at, "s", {"x", "y", "z"});
  const auto query = notes + "?session=s";
  const auto all = get(at, "/snapshots" + query + "&limit=2");
  EXPECT_EQ(all["snapshots"].size(), 2u);
  EXPECT_TRUE(all["more"]);
  EXPECT_EQ(get(at, "/snapshots" + query + "&after=2")["snapshots"].size(), 1u);
  const auto second = get(at, "/snapshots" + query + "&snapshot=2");
  EXPECT_EQ(second["state"]["words"], "xy");
  const auto id = second["snapshot"]["id"].get<std::string>();
  EXPECT_EQ(get(at, "/snapshots" + query + "&snapshot=" + id), second);
  const auto changes
    = get(at, "/diffs" + query + "&before=1&after=" + id)["patch"];
  const auto first = get(at, "/snapshots" + query + "&snapshot=1")["state"];
  EXPECT_EQ(first.patch(changes), second["state"]);
  EXPECT_EQ(at.call("GET", "/snapshots" + notes).status, 400u);
  EXPECT_EQ(at.call("GET", "/diffs" + query + "&before=1").status, 400u);
  EXPECT_EQ(at.call("GET", "/diffs" + query + "&before=1&after=7").status,
            404u);
}

TEST_F(web_sessions, have_turns_that_are_taken_once) {
  auto at = serve_stores();
  const auto say_once = [&](const std::string& turn, const std::string& word) {
    const json body{
      {"session", "s"}, {"turn", turn}, {"inputs", {word}}, {"close", true}};
    const auto x = at.call("POST", "/actions" + notes, body.dump());
    EXPECT_EQ(x.status, 200u) << x.body;
    return x.document()["turnFound"];
  };
  EXPECT_EQ(say_once("a", "one"), "notBegun");
  EXPECT_EQ(say_once("a", "one"), "over") << "the same request again";
  EXPECT_EQ(say_once("b", "two"), "notBegun");
  EXPECT_EQ(say_once("a", "one"), "past");
  const json two{{"session", "s"}, {"turn", "c"}, {"inputs", {"x", "y"}}};
  EXPECT_EQ(at.call("POST", "/actions" + notes, two.dump()).status, 400u);
  const auto shown = get(at, "/snapshots" + notes + "?session=s&limit=9");
  EXPECT_EQ(shown["snapshots"].size(), 2u) << shown;
}

TEST_F(web_sessions, are_changed) {
  auto at = serve_stores();
  say(at, "s", {"x", "y"});
  const auto query = notes + "?session=s";
  const auto change = [&](const std::string& body) {
    return at.call("PATCH", "/sessions" + query, body);
  };
  EXPECT_EQ(change(R"({"title":"Errands"})").document()["title"], "Errands");
  EXPECT_EQ(change(R"({"head":"1"})").document()["head"], 1);
  EXPECT_EQ(get(at, "/sessions" + query)["state"]["words"], "x");
  EXPECT_EQ(get(at, "/snapshots" + query)["snapshots"].size(), 1u);
  EXPECT_EQ(get(at, "/snapshots" + query + "&orphans=true")["snapshots"].size(),
            2u);
  EXPECT_EQ(change(R"({"head":"7"})").status, 404u);
  EXPECT_EQ(change(R"({"name":"x"})").status, 400u);
  const auto note = [&](const std::string& body) {
    return at.call("PATCH", "/snapshots" + query + "&snapshot=1", body);
  };
  EXPECT_EQ(note(R"({"add":["good","old"],"note":"well"})").document()["note"],
            "well");
  EXPECT_EQ(note(R"({"remove":["old"]})").document()["labels"], json{"good"});
  EXPECT_EQ(note(R"({"add":[""]})").status, 400u);
  EXPECT_EQ(ids_of(get(at, "/sessions" + notes + "?label=good")), texts{"s"});
  EXPECT_EQ(ids_of(get(at, "/sessions" + notes + "?label=bad")), texts{});
}

TEST_F(web_sessions, are_copied_and_deleted) {
  auto at = serve_stores();
  say(at, "s", {"x", "y"});
  const auto copy = [&](const std::string& body) {
    return at.call("POST", "/sessions" + notes, body);
  };
  EXPECT_EQ(copy(R"({"session":"t","from":"s","at":"1"})").status, 201u);
  EXPECT_EQ(get(at, "/sessions" + notes + "?session=t")["state"]["words"], "x");
  EXPECT_EQ(copy(R"({"session":"t","from":"s"})").status, 409u);
  EXPECT_EQ(copy(R"({"session":"u","from":"none"})").status, 404u);
  EXPECT_EQ(copy(R"({"session":"","from":"s"})").status, 400u);
  const auto erase
    = [&] { return at.call("DELETE", "/sessions" + notes + "?session=s"); };
  EXPECT_EQ(erase().document()["records"], 2);
  EXPECT_EQ(erase().status, 404u);
  EXPECT_EQ(ids_of(get(at, "/sessions" + notes)), texts{"t"});
}

TEST_F(web_sessions, are_exported) {
  auto at = serve_stores();
  texts words(40, "x");
  say(at, "s", words);
  const auto text = at.call("GET", "/exports" + notes + "?session=s").body;
  std::ostringstream expected;
  export_session(system, store, {notes, session_id{"s"}}, expected);
  EXPECT_EQ(text, expected.str());
  std::istringstream file{text};
  EXPECT_EQ(import_session(system, store, file, {{}, session_id{"t"}}).records,
            40u);
  EXPECT_EQ(at.call("GET", "/exports" + notes + "?session=none").status, 404u);
  const auto head = at.call("HEAD", "/exports" + notes + "?session=s");
  EXPECT_EQ(head.status, 200u);
  EXPECT_EQ(at.call("GET", "/healthz").body, R"({"status":"ok"})")
    << "nothing of the export follows the head";
}

TEST_F(web_sessions, without_snapshots_are_exported_whole) {
  define_agent(rt, "plain", take_notes, with_snapshot_store(store));
  auto at = serve_stores();
  EXPECT_EQ(at.call("POST", "/actions/agent/plain",
                    R"({"session":"s","inputs":["x"]})")
              .status,
            200u);
  const auto text = at.call("GET", "/exports/agent/plain?session=s").body;
  std::istringstream file{text};
  EXPECT_EQ(import_session(system, store, file, {{}, session_id{"t"}}).records,
            0u);
  EXPECT_EQ(at.call("GET", "/healthz").status, 200u);
}

TEST_F(web_sessions, belong_to_their_callers) {
  auto at = serve_two();
  const auto ann = token_of("ann");
  const auto bob = token_of("bob");
  for (const auto* id : {"a", "b", "c"})
    say(at, id, {"x", "y"}, ann);
  say(at, "d", {"x"}, bob);
  say(at, "b", {"x"}, bob);
  EXPECT_EQ(ids_of(get(at, "/sessions" + notes, bob)),
            (texts{"bob/b", "bob/d"}));
  const auto page = get(at, "/sessions" + notes + "?limit=3", ann);
  EXPECT_EQ(ids_of(page), (texts{"ann/a", "ann/b", "ann/c"}));
  const auto rest = get(at, "/sessions" + notes + "?after=ann/b&limit=5", ann);
  EXPECT_EQ(ids_of(rest), texts{"ann/c"});
  EXPECT_FALSE(rest["more"]);
  const auto status = [&](const char* method, const std::string& target,
                          const std::string& body = {}) {
    return at.call(method, target, body, bob).status;
  };
  for (const auto& query : {notes + "?session=a", notes + "?session=ann/a"}) {
    EXPECT_EQ(status("GET", "/sessions" + query), 404u);
    EXPECT_EQ(status("DELETE", "/sessions" + query), 404u);
    EXPECT_EQ(status("PATCH", "/sessions" + query, R"({"title":"x"})"), 404u);
    EXPECT_EQ(status("PATCH", "/sessions" + query, R"({"head":"1"})"), 404u);
    EXPECT_EQ(status("GET", "/snapshots" + query + "&snapshot=1"), 404u);
    EXPECT_EQ(status("PATCH", "/snapshots" + query + "&snapshot=1",
                     R"({"note":"x"})"),
              404u);
    EXPECT_EQ(status("GET", "/diffs" + query + "&before=1&after=1"), 404u);
    EXPECT_EQ(status("GET", "/exports" + query), 404u);
  }
  EXPECT_EQ(
    get(at, "/snapshots" + notes + "?session=ann/a", bob)["snapshots"].size(),
    0u);
  EXPECT_EQ(status("POST", "/sessions" + notes,
                   R"({"session":"x","from":"ann/a"})"),
            404u);
  EXPECT_EQ(status("POST", "/sessions" + notes,
                   R"({"session":"ann/x","from":"b"})"),
            201u);
  EXPECT_EQ(ids_of(get(at, "/sessions" + notes, bob)).front(), "bob/ann/x");
  EXPECT_EQ(status("GET", "/snapshots" + notes + "?snapshot=1"), 400u);
}

TEST_F(web_sessions, are_shown_only_if_their_store_is) {
  auto at = serve({.expose = {"/agent/*", "/snapshot-store/notes/listSessions"},
                   .authorize = [](const access_request& x) {
                     return x.session != "secret";
                   }});
  say(at, "s", {"x"});
  const auto status = [&](const char* method, const std::string& route,
                          const std::string& body = {}) {
    return at.call(method, route + notes + "?session=s&snapshot=1", body)
      .status;
  };
  EXPECT_EQ(at.call("GET", "/sessions" + notes).status, 200u);
  EXPECT_EQ(status("GET", "/sessions"), 404u);
  EXPECT_EQ(status("DELETE", "/sessions"), 404u);
  EXPECT_EQ(status("PATCH", "/sessions", "{}"), 404u);
  EXPECT_EQ(status("POST", "/sessions", R"({"session":"x","from":"s"})"), 404u);
  EXPECT_EQ(status("GET", "/snapshots"), 404u);
  EXPECT_EQ(status("PATCH", "/snapshots", "{}"), 404u);
  EXPECT_EQ(status("GET", "/diffs"), 404u);
  EXPECT_EQ(status("GET", "/exports"), 404u);
  auto allowed = serve_stores({.authorize = [](const access_request& x) {
    return x.session != "secret";
  }});
  EXPECT_EQ(allowed.call("GET", "/sessions" + notes + "?session=s").status,
            200u);
  EXPECT_EQ(allowed.call("GET", "/sessions" + notes + "?session=secret").status,
            403u);
  for (const auto* body : {R"({"session":"secret","from":"s"})",
                           R"({"session":"t","from":"secret"})"})
    EXPECT_EQ(allowed.call("POST", "/sessions" + notes, body).status, 403u);
  EXPECT_EQ(allowed.call("GET", "/snapshots" + notes + "?snapshot=abc").status,
            400u)
    << "in whichever session";
  EXPECT_EQ(allowed.call("GET", "/sessions" + counter).status, 400u)
    << "a flow has no store";
}

} // namespace tertulia::test::web_session_tests
