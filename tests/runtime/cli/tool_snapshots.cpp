// SPDX-License-Identifier: BSD-3-Clause

// Commands on snapshots: they are named, shown, compared, changed and pruned.

#include <tertulia/sha256.hpp>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "support/effort.hpp"
#include "support/raw_sqlite.hpp"
#include "support/tool_store.hpp"

namespace tertulia::test::tool_snapshots_tests {

namespace {

struct tool_snapshots : a_tool {
  /// Returns the sequence numbers of a session's records, with `*` for the head
  /// and `x` for orphaned records.
  strings timeline(const std::string& session) const {
    strings result;
    for (const auto& x :
         documents({"snapshots", "list", session, "--agent", "/agent/chat"}))
      result.push_back(std::to_string(x.at("sequence").get<int>())
                       + (x.at("head") == true       ? "*"
                          : x.at("orphaned") == true ? "x"
                                                     : ""));
    return result;
  }

  static std::string name_of(const json& record) {
    return record.at("agent").get<std::string>() + ' '
           + record.at("session").get<std::string>() + '@'
           + std::to_string(record.at("sequence").get<int>());
  }

  /// Returns the record that a name refers to.
  std::string meant(const std::string& name, strings more = {}) const {
    more.insert(more.begin(), {"snapshots", "show", name});
    return name_of(document(more).at("record"));
  }
};

} // namespace

// -- names --------------------------------------------------------------------

TEST_F(tool_snapshots, are_named_in_four_ways) {
  EXPECT_EQ(meant("s2"), "/agent/chat s2@1");
  EXPECT_EQ(meant("s2@1"), "/agent/chat s2@1");
  EXPECT_EQ(meant("s1", {"--agent", "/agent/chat"}), "/agent/chat s1@4");
  EXPECT_EQ(meant(ids[2]), "/agent/chat s1@3");
  EXPECT_EQ(meant(ids[2].substr(0, 4)), "/agent/chat s1@3");
  EXPECT_EQ(meant(ids[0], {"--session", "s2"}), "/agent/chat s2@1");
  EXPECT_EQ(meant(ids[1], {"--agent", "/flow/draft"}), "/flow/draft s1@1");
}

TEST_F(tool_snapshots, with_an_ambiguous_name_are_listed) {
  EXPECT_TRUE(run({"snapshots", "show", ids[0].substr(0, 10)})
                .failed(2, "several snapshots could be meant",
                        "\n  s1@1  " + ids[0].substr(0, 12),
                        "\n  s2@1  " + ids[0].substr(0, 12)));
  EXPECT_EQ(failure(2, {"snapshots", "show", ids[0]})
              .at("details")
              .at("candidates")
              .size(),
            2u);
  EXPECT_EQ(failure_code(2, {"snapshots", "restore", "s1"}),
            "failed_precondition");
}

TEST_F(tool_snapshots, are_not_confused_with_a_session_that_is_called_alike) {
  const auto prefix = ids[2].substr(0, 6);
  output({"sessions", "fork", "s2", prefix});
  EXPECT_TRUE(run({"snapshots", "restore", prefix})
                .failed(2, "\n  s1@3  ", "\n  " + prefix + "@1  "));
  EXPECT_EQ(meant(prefix + "@1"), "/agent/chat " + prefix + "@1");
}

TEST_F(tool_snapshots, that_are_not_there_are_not_found) {
  for (const auto* name :
       {"s2@7", "s7@1", "s7", "0000", "000", "s2@0", "s2@99999999999999999999"})
    EXPECT_EQ(failure_code(3, {"snapshots", "show", name}), "not_found");
  EXPECT_EQ(failure_code(3, {"snapshots", "show", std::string(64, '0')}),
            "not_found");
  EXPECT_EQ(failure_code(3, {"snapshots", "show", ids[2], "--session", "s2"}),
            "not_found");
  EXPECT_TRUE(has(run({"snapshots", "show", "000"}).err, "4 characters"));
}

// -- queries ------------------------------------------------------------------

TEST_F(tool_snapshots, are_listed_as_a_timeline) {
  EXPECT_EQ(timeline("s1"), (strings{"1", "2", "3x", "4*"}));
  const auto text
    = output({"snapshots", "list", "s1", "--agent", "/agent/chat"});
  EXPECT_TRUE(has(text, "   SEQ  FROM  ID",
                  "x    3        " + ids[2].substr(0, 12),
                  "*    4     2  " + ids[3].substr(0, 12)
                    + "  turnEnd     2  2026-11-20 12:00",
                  "2026-11-20 11:00  good\n"));
  EXPECT_EQ(
    documents({"snapshots", "list", "s1", "--agent", "/agent/chat", "--active"})
      .size(),
    3u);
  EXPECT_EQ(run({"snapshots", "list", "s9"}).code, 3);
}

TEST_F(tool_snapshots, show_their_record_and_their_state) {
  const auto text = output({"snapshots", "show", ids[2]});
  EXPECT_TRUE(has(text, "snapshot      " + ids[2], "status        orphaned",
                  "goes on from  2", "\"mood\": \"calm\""));
  EXPECT_EQ(
    document({"snapshots", "show", ids[2]}).at("state").at("messages").size(),
    6u);
}

TEST_F(tool_snapshots, print_a_state_whose_hash_is_the_id) {
  for (const auto& id : {ids[2], ids[3]}) {
    sha256 hash;
    hash.update(output({"snapshots", "show", id, "--state"}));
    EXPECT_EQ(hash.hex(), id);
  }
}

TEST_F(tool_snapshots, show_their_record_even_if_the_state_is_damaged) {
  raw_sqlite{file}.run("UPDATE messages SET text = replace(text, 'why', 'oh')");
  const auto result
    = run({"snapshots", "show", "s1@3", "--agent", "/agent/chat"});
  EXPECT_EQ(result.code, 4);
  EXPECT_TRUE(has(result.out, "status        orphaned"));
  EXPECT_TRUE(has(result.err, "is corrupt"));
  EXPECT_EQ(failure_code(4, {"snapshots", "show", ids[2], "--state"}),
            "data_loss");
}

TEST_F(tool_snapshots, are_compared_part_by_part) {
  const auto text = output({"snapshots", "diff", ids[2], ids[3]});
  EXPECT_TRUE(has(text,
                  "- s1@3  " + ids[2].substr(0, 12) + "\n+ s1@4  "
                    + ids[3].substr(0, 12) + "\n",
                  "  ~ /messages/2/content/0/text\n"
                  "      - \"how?\"\n      + \"when?\"\n",
                  "  ~ /custom/mood\n      - \"calm\"\n"
                  "      + \"glad\"\n"));

  const auto added
    = output({"snapshots", "diff", "s1@1", "s1@2", "--agent", "/agent/chat"});
  EXPECT_TRUE(has(added, "messages: 2 -> 4\n  + /messages/2  user: how?\n"
                         "  + /messages/3  model: so\n"));
  EXPECT_FALSE(has(added, "custom"));
  EXPECT_TRUE(
    has(output({"snapshots", "diff", "s1@2", "s1@1", "--agent", "/agent/chat"}),
        "  - /messages/2  user: how?\n"));
  EXPECT_TRUE(has(output({"snapshots", "diff", "s2", "s2@1"}),
                  "Both have the same state.\n"));
}

TEST_F(tool_snapshots, are_compared_as_a_document) {
  const auto found = document({"snapshots", "diff", ids[2], ids[3]});
  EXPECT_EQ(found.at("before").at("sequence"), 3);
  EXPECT_EQ(found.at("after").at("sequence"), 4);
  EXPECT_EQ(found.at("custom"),
            json::parse(R"([{"op":"replace","path":"/custom/mood",
                             "before":"calm","after":"glad"}])"));
  EXPECT_EQ(found.at("messages").size(), 4u);
}

TEST_F(tool_snapshots, tell_of_which_type_their_state_is) {
  {
    file_store store{file};
    const session_ref session{"/agent/plain", session_id{"p"}};
    const auto value = payload::of(json::object({{"a", 1}}));
    save(store, session, state::plain(value), 0);
    save(store, session, state::plain(value, stored_type{"app.memo", 2}), 1);
  }
  EXPECT_TRUE(has(output({"snapshots", "show", "p@2"}),
                  "type          app.memo version 2\n"));
  EXPECT_FALSE(has(output({"snapshots", "show", "p@1"}), "type"));
  const auto text = output({"snapshots", "diff", "p@1", "p@2"});
  EXPECT_TRUE(has(text, "  no type\n+ p@2  "));
  EXPECT_TRUE(text.ends_with("  app.memo version 2\n")) << text;
}

TEST_F(tool_snapshots, of_plain_states_are_compared_too) {
  {
    file_store store{file};
    const session_ref session{"/agent/plain", session_id{"p"}};
    const auto plain = [](const char* text) {
      return state::plain(payload::of(json::parse(text)));
    };
    save(store, session, plain(R"({"a/b":[1,2],"c":{"d":true}})"), 0);
    save(store, session, plain(R"({"a/b":[1,3,4],"e":null})"), 1);
  }
  const auto text = output({"snapshots", "diff", "p@1", "p@2"});
  EXPECT_TRUE(has(text, "  ~ /state/a~1b/1\n      - 2\n      + 3\n"
                        "  + /state/a~1b/2  4\n"
                        "  - /state/c  {\"d\":true}\n"
                        "  + /state/e  null\n"));
  EXPECT_TRUE(has(output({"sessions", "show", "p"}), "\"a/b\": ["));
}

// -- changes ------------------------------------------------------------------

TEST_F(tool_snapshots, are_labelled_and_noted) {
  EXPECT_EQ(output({"snapshots", "label", "s2", "--add", "b", "--add", "a"}),
            "s2@1  " + ids[0].substr(0, 12) + "  is labelled a, b\n");
  EXPECT_EQ(output({"snapshots", "label", "--remove", "a", "s2"}),
            "s2@1  " + ids[0].substr(0, 12) + "  is labelled b\n");
  EXPECT_EQ(
    document({"snapshots", "label", "s2", "--remove", "b"}).at("labels"),
    json::array());
  EXPECT_EQ(failure_code(2, {"snapshots", "label", "s2", "--add", ""}),
            "invalid_argument");
  EXPECT_EQ(output({"snapshots", "note", "s2", "look here"}),
            "s2@1  " + ids[0].substr(0, 12) + "  is noted: look here\n");
  EXPECT_TRUE(
    has(output({"snapshots", "show", "s2"}), "note          look here"));
  EXPECT_TRUE(has(output({"snapshots", "note", "s2", ""}), "has no note now"));
}

TEST_F(tool_snapshots, tell_what_restoring_them_orphans) {
  const auto forth = output({"snapshots", "restore", ids[2]});
  EXPECT_TRUE(
    has(forth, "s1@3  " + ids[2].substr(0, 12) + "  is the head now"));
  EXPECT_TRUE(has(forth, "Recovered: 3.",
                  "Orphaned: 4. To restore them: tertulia snapshots "
                  "restore s1@4"));
  EXPECT_EQ(timeline("s1"), (strings{"1", "2", "3*", "4x"}));
  output({"sessions", "fork", "s1", "it's one", "--agent", "/agent/chat"});
  const auto advice
    = output({"snapshots", "restore", "it's one@1", "--agent", "/agent/chat"});
  EXPECT_TRUE(has(advice, "restore 'it'\\''s one@3' --agent /agent/chat "
                          "--store "
                            + file.string() + '\n'));
  const auto typed = advice.substr(advice.find("tertulia snapshots"));
  const auto path
    = "PATH=" + std::filesystem::path{TERTULIA_TOOL}.parent_path().string()
      + ":$PATH; ";
  const auto followed = run_process({"sh", "-c", path + typed});
  EXPECT_EQ(followed.code, 0) << followed.err;
  EXPECT_TRUE(has(followed.out, "it's one@3"));
  EXPECT_FALSE(
    has(output({"snapshots", "restore", "s2", "--agent", "/agent/chat"}),
        "--store"))
    << "nothing is orphaned";
  const auto back = document({"snapshots", "restore", ids[0], "--session", "s1",
                              "--agent", "/agent/chat"});
  EXPECT_EQ(back.at("head").at("sequence"), 1);
  EXPECT_EQ(back.at("orphaned"), json::parse("[2,3]"));
  EXPECT_EQ(back.at("recovered"), json::array());
}

// -- prune --------------------------------------------------------------------

TEST_F(tool_snapshots, are_pruned_as_the_dry_run_has_said) {
  std::vector<strings> all_options{{"--older-than", "2026-11-20T11:30:00Z"},
                                   {"--keep", "0", "--agent", "/agent/chat"},
                                   {"--keep", "1"},
                                   {"--older-than", "1s", "--keep", "2"},
                                   {"--keep", "0", "--session", "s2"},
                                   {"--keep", "100"}};
  all_options.resize(by_effort(2, 6, 6));
  for (const auto& options : all_options) {
    const auto copy = folder / "copy.db";
    std::filesystem::copy_file(
      file, copy, std::filesystem::copy_options::overwrite_existing);
    const auto prune = [&](const char* what) {
      strings all{"snapshots",   "prune",  "--store",
                  copy.string(), "--json", what};
      all.insert(all.end(), options.begin(), options.end());
      const auto result = run_bare(all);
      EXPECT_EQ(result.code, 0) << result.err;
      return json::parse(result.out);
    };
    const auto there = [&] {
      std::set<std::string> result;
      for (const auto* agent : {"/agent/chat", "/flow/draft"})
        for (const auto* session : {"s1", "s2"}) {
          const auto list
            = run_bare({"snapshots", "list", session, "--agent", agent,
                        "--store", copy.string(), "--json"});
          for (const auto& x : documents_in(list.out))
            result.insert(name_of(x));
        }
      return result;
    };
    auto expected = there();
    const auto plan = prune("--dry-run");
    EXPECT_EQ(there(), expected) << "a dry run changes nothing";
    for (const auto& x : plan.at("snapshots"))
      EXPECT_EQ(expected.erase(name_of(x)), 1u);
    const auto done = prune("--yes");
    EXPECT_EQ(done.at("records"), plan.at("records"));
    EXPECT_EQ(there(), expected);
  }
}

TEST_F(tool_snapshots, are_pruned_only_when_it_is_meant) {
  EXPECT_TRUE(run({"snapshots", "prune", "--keep", "1"}).failed(2, "--yes"));
  EXPECT_EQ(timeline("s1").size(), 4u);
  const auto dry = output({"snapshots", "prune", "--keep", "1", "--dry-run"});
  EXPECT_TRUE(has(dry, "/agent/chat  s1@1",
                  "Would prune 2 of 6 snapshots in 1 session.\n"));
  EXPECT_EQ(output({"snapshots", "prune", "--keep", "1", "--yes"}),
            "Pruned 2 snapshots in 1 session.\n");
  EXPECT_EQ(timeline("s1"), (strings{"2", "4*"}));
  EXPECT_EQ(output({"snapshots", "prune", "--keep", "1"}),
            "There was nothing to prune.\n");
}

TEST_F(tool_snapshots, that_are_damaged_stop_no_pruning_of_others) {
  raw_sqlite db{file};
  db.run("UPDATE records SET depth = 9 WHERE sequence = 3");
  db.run("UPDATE sessions SET preview = 'x' WHERE id = 's2'");
  const auto names = [](const json& damages) {
    std::set<std::string> result;
    for (const auto& x : damages)
      result.insert(x.at("where").at("id").get<std::string>() + '@'
                    + std::to_string(x.at("sequence").get<int>()));
    return result;
  };
  const std::set<std::string> damaged{"s1@3", "s2@0"};
  const auto plan
    = run({"snapshots", "prune", "--keep", "1", "--dry-run", "--json"});
  EXPECT_EQ(plan.code, 4);
  EXPECT_EQ(plan.err, "");
  EXPECT_EQ(json::parse(plan.out).at("records"), 1);
  EXPECT_EQ(names(json::parse(plan.out).at("damages")), damaged);
  const auto dry = run({"snapshots", "prune", "--keep", "1", "--dry-run"});
  EXPECT_EQ(dry.code, 4);
  EXPECT_TRUE(has(dry.out, "Would prune 1 of 5 snapshots in 1 session.\n"));

  const auto done = run({"snapshots", "prune", "--keep", "1", "--yes"});
  EXPECT_EQ(done.code, 4);
  EXPECT_EQ(done.err, "");
  EXPECT_TRUE(has(done.out, "corrupt: 2\n",
                  "record 3 of session \"s1\" of /agent/chat is "
                  "corrupt",
                  "session \"s2\" of /agent/chat is corrupt",
                  "\n\nPruned 1 snapshot in 1 session.\n"));
  db.run("UPDATE records SET depth = 2 WHERE sequence = 3");
  EXPECT_EQ(timeline("s1"), (strings{"2", "3x", "4*"}));
  const auto rest
    = run({"snapshots", "prune", "--keep", "1", "--yes", "--json"});
  EXPECT_EQ(rest.code, 4) << "a session is damaged still";
  EXPECT_EQ(json::parse(rest.out).at("records"), 1);
  EXPECT_EQ(names(json::parse(rest.out).at("damages")),
            std::set<std::string>{"s2@0"});
}

TEST_F(tool_snapshots, that_are_damaged_may_be_what_was_meant) {
  raw_sqlite db{file};
  db.run("UPDATE records SET depth = 9 WHERE sequence = 4");
  const auto lost = failure(4, {"snapshots", "show", ids[3].substr(0, 8)});
  EXPECT_EQ(lost.at("code"), "data_loss");
  EXPECT_TRUE(has(lost.at("message"), "record 4 of session \"s1\""));
  EXPECT_EQ(failure_code(4, {"snapshots", "show", "0123456789"}), "data_loss")
    << "nobody knows what its id was";
  const auto found = run({"snapshots", "show", ids[2].substr(0, 8)});
  EXPECT_EQ(found.code, 0);
  EXPECT_TRUE(has(found.out, ids[2]));
  EXPECT_TRUE(has(found.err, "record 4 of session \"s1\""));
  document({"snapshots", "show", ids[2].substr(0, 8)});
  const auto restored
    = run({"snapshots", "restore", "s1@3", "--agent", "/agent/chat", "--json"});
  EXPECT_EQ(restored.code, 0);
  EXPECT_EQ(json::parse(restored.out).at("damages").size(), 1u);
}

} // namespace tertulia::test::tool_snapshots_tests
