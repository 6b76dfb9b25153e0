// SPDX-License-Identifier: BSD-3-Clause

// Commands on files: stores are verified and vacuumed, sessions are exported
// and imported. Also the errors for invalid input. The tool runs as a process,
// as users run it.

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "support/raw_sqlite.hpp"
#include "support/tool_store.hpp"
#include <sys/stat.h>

namespace tertulia::test::tool_tests {

using tool = a_tool;

// -- files --------------------------------------------------------------------

TEST_F(tool, exports_what_it_imports_again) {
  const auto there = (folder / "s1.jsonl").string();
  EXPECT_EQ(
    output({"sessions", "export", "s1", "--agent", "/agent/chat", "-o", there}),
    "Wrote session s1 of /agent/chat with 4 snapshots to " + there + ".\n");
  EXPECT_EQ(output({"sessions", "export", "s1", "--agent", "/agent/chat"}),
            text_of(there));

  const auto copy = (folder / "copy.db").string();
  const auto made = run_bare({"sessions", "import", there, "--store", copy});
  EXPECT_EQ(made.code, 0) << made.err;
  EXPECT_EQ(made.out, "Read session s1 of /agent/chat with 4 snapshots.\n");
  const auto again
    = run_bare({"snapshots", "list", "s1", "--json", "--store", copy});
  EXPECT_EQ(again.out, output({"snapshots", "list", "s1", "--agent",
                               "/agent/chat", "--json"}));

  const auto other = run({"sessions", "import", "-", "--as", "s9", "--agent",
                          "/agent/x", "--json"},
                         text_of(there));
  EXPECT_EQ(other.code, 0) << other.err;
  EXPECT_EQ(json::parse(other.out).at("id"), "s9");
  EXPECT_EQ(json::parse(other.out).at("agent"), "/agent/x");
}

TEST_F(tool, replaces_a_file_only_when_forced_to) {
  const auto there = (folder / "s2.jsonl").string();
  std::ofstream{there} << "precious";
  const auto error = failure(1, {"sessions", "export", "s2", "-o", there});
  EXPECT_EQ(error.at("code"), "already_exists");
  EXPECT_TRUE(has(error.at("advice"), "--force"));
  EXPECT_EQ(text_of(there), "precious");
  output({"sessions", "export", "s2", "-o", there, "--force"});
  EXPECT_TRUE(has(text_of(there), "tertulia-session"));
  EXPECT_EQ(failure_code(2,
                         {"sessions", "export", "s2", "-o", "/dev/null", "-f"}),
            "invalid_argument");
  EXPECT_EQ(failure_code(3, {"sessions", "export", "s2", "-o", "/nowhere/x"}),
            "not_found");
}

TEST_F(tool, leaves_no_file_behind_when_an_export_fails) {
  raw_sqlite{file}.run("UPDATE messages SET text = replace(text, 'hi', 'ho')");
  const auto there = (folder / "s2.jsonl").string();
  const auto before = files().size();
  EXPECT_EQ(failure_code(4, {"sessions", "export", "s2", "-o", there}),
            "data_loss");
  EXPECT_EQ(files().size(), before);
}

TEST_F(tool, imports_nothing_of_a_broken_file) {
  auto text = output({"sessions", "export", "s2"});
  text.replace(text.rfind("hello"), 5, "jello");
  const auto broken
    = failure(4, {"sessions", "import", "-", "--as", "x"}, text);
  EXPECT_EQ(broken.at("code"), "data_loss");
  EXPECT_EQ(broken.at("details").at("line"), 2);
  EXPECT_EQ(failure_code(1, {"sessions", "import", "-"}, "what?\n"),
            "failed_precondition");
  EXPECT_EQ(failure_code(3, {"sessions", "import", "/nowhere/x"}), "not_found");
  EXPECT_EQ(failure_code(2, {"sessions", "import", "/tmp"}),
            "invalid_argument");
  const auto taken = failure(1, {"sessions", "import", "-"},
                             output({"sessions", "export", "s2"}));
  EXPECT_EQ(taken.at("code"), "already_exists");
  EXPECT_TRUE(has(taken.at("advice"), "--as"));
  EXPECT_EQ(documents({"sessions", "list"}).size(), 3u);
}

// -- verify -------------------------------------------------------------------

TEST_F(tool, verifies_a_store) {
  EXPECT_EQ(output({"verify"}),
            "3 sessions and 6 snapshots were checked: nothing is damaged.\n");
  EXPECT_EQ(output({"verify", "s2"}),
            "1 session and 1 snapshot were checked: nothing is damaged.\n");
  EXPECT_EQ(document({"verify"}).at("damages"), json::array());
}

TEST_F(tool, verifies_the_file_itself_and_mends_its_indexes) {
  // Two entries refer to one session, and none to another one.
  change_page(file, root_page(file, "sqlite_autoindex_sessions_1"),
              [](std::string& bytes) { bytes.replace(10, 2, bytes, 8, 2); });
  const auto result = run({"verify"});
  EXPECT_EQ(result.code, 4);
  EXPECT_TRUE(has(result.out, "missing from index sqlite_autoindex_sessions"));
  EXPECT_NE(json::parse(run({"verify", "--json"}).out).at("corrupt"), 0);
  output({"vacuum"});
  EXPECT_EQ(run({"verify"}).code, 0);
  EXPECT_EQ(documents({"sessions", "list"}).size(), 3u);
}

TEST_F(tool, tells_what_is_corrupt_and_what_is_missing) {
  raw_sqlite db{file};
  db.run("UPDATE messages SET text = replace(text, 'why', 'who')");
  db.run("DELETE FROM blobs WHERE text LIKE '%glad%'");
  const auto result = run({"verify"});
  EXPECT_EQ(result.code, 4);
  EXPECT_EQ(result.err, "");
  EXPECT_TRUE(has(result.out, "corrupt: 1\n",
                  "/agent/chat  s1            3  state " + ids[2],
                  "missing: 2\n", "1 corrupt, 2 missing."));
  const auto program = run({"verify", "--json"});
  EXPECT_EQ(program.code, 4);
  const auto found = json::parse(program.out);
  EXPECT_EQ(found.at("corrupt"), 1);
  EXPECT_EQ(found.at("missing"), 2);
  EXPECT_EQ(found.at("damages").size(), 3u);
  EXPECT_EQ(run({"verify", "s2"}).code, 0);
}

// -- vacuum -------------------------------------------------------------------

TEST_F(tool, gives_back_what_was_deleted) {
  add_session("big", std::string(1'000'000, 'x'));
  output({"sessions", "delete", "big", "--yes"});
  const auto sizes = document({"vacuum"});
  EXPECT_GT(sizes.at("bytesBefore"), 1'000'000);
  EXPECT_LT(sizes.at("bytesAfter"), 500'000);
  EXPECT_EQ(std::filesystem::file_size(file), sizes.at("bytesAfter"));
  EXPECT_TRUE(has(output({"vacuum"}), " now.\n"));
  EXPECT_EQ(documents({"sessions", "list"}).size(), 3u);
}

// -- invalid input ------------------------------------------------------------

TEST_F(tool, makes_no_store_of_a_typo) {
  const auto typo = (folder / "chta.db").string();
  for (const auto& arguments :
       std::vector<strings>{{"sessions", "list"},
                            {"sessions", "show", "s1"},
                            {"snapshots", "list", "s1"},
                            {"verify"},
                            {"sessions", "import", "/nowhere/x"}}) {
    EXPECT_EQ(run_bare(joined(arguments, {"--store", typo})).code, 3);
  }
  EXPECT_FALSE(std::filesystem::exists(typo));
  EXPECT_TRUE(has(run_bare({"verify", "--store", typo}).err,
                  "tertulia: there is no file " + typo));
}

TEST_F(tool, refuses_what_is_no_store) {
  const auto other = (folder / "other").string();
  std::ofstream{other} << std::string(5'000, 'x');
  EXPECT_TRUE(
    run_bare({"verify", "--store", other}).failed(1, "is not a SQLite file"));
  raw_sqlite{folder / "foreign.db"}.run("CREATE TABLE x (y)");
  EXPECT_TRUE(
    has(run_bare({"verify", "--store", (folder / "foreign.db").string()}).err,
        "belongs to another program"));
  std::ofstream{folder / "empty"};
  EXPECT_EQ(run_bare({"verify", "--store", (folder / "empty").string()}).code,
            1);
  EXPECT_EQ(std::filesystem::file_size(folder / "empty"), 0u);
  EXPECT_EQ(run_bare({"verify", "--store", "/tmp"}).code, 2);
}

TEST_F(tool, says_which_file_another_process_has) {
  const file_store other{file};
  const auto result = run({"verify", "--wait", "0s"});
  EXPECT_EQ(result.code, 5);
  EXPECT_EQ(result.out, "");
  EXPECT_TRUE(has(result.err, file.string() + " is in use by another process",
                  "--wait 30s"));
  EXPECT_EQ(failure_code(5, {"verify", "--wait", "0s"}), "unavailable");
}

TEST_F(tool, takes_the_store_from_where_it_is_said) {
  EXPECT_EQ(run_bare({"verify"}).code, 2);
  EXPECT_TRUE(has(run_bare({"verify"}).err, "TERTULIA_STORE"));
  EXPECT_EQ(run_bare({"verify", "--store", file.string()}).code, 0);
  EXPECT_EQ(run_bare({"--store", file.string(), "verify"}).code, 0);
  EXPECT_EQ(run_bare({"sessions", "--store", file.string(), "list"}).code, 0);
  EXPECT_EQ((run_process({"env", "TERTULIA_STORE=" + file.string(),
                          TERTULIA_TOOL, "verify"})
               .code),
            0);
}

TEST_F(tool, lists_what_an_ambiguous_name_could_mean) {
  EXPECT_TRUE(run({"sessions", "show", "s1"})
                .failed(2, "several agents have a session \"s1\"",
                        "\n  --agent /agent/chat\n",
                        "\n  --agent /flow/draft\n"));
  const auto error = failure(2, {"sessions", "show", "s1"});
  EXPECT_EQ(error.at("code"), "failed_precondition");
  EXPECT_EQ(error.at("details").at("candidates").size(), 2u);
}

TEST_F(tool, says_what_it_does_not_know) {
  const auto error = failure(3, {"sessions", "show", "s7"});
  EXPECT_EQ(error.at("code"), "not_found");
  EXPECT_EQ(error.at("message"), "there is no session \"s7\"");
  EXPECT_EQ(run({"sessions", "show", "s2", "--agent", "/agent/no"}).code, 3);
  for (const auto& arguments :
       std::vector<strings>{{},
                            {"nonsense"},
                            {"sessions"},
                            {"sessions", "nonsense"},
                            {"sessions", "show"},
                            {"sessions", "list", "--nonsense"},
                            {"sessions", "list", "--limit", "0"},
                            {"sessions", "list", "--limit", "x"},
                            {"sessions", "list", "--since", "2026-02-31"},
                            {"sessions", "list", "--since", "yesterday"},
                            {"sessions", "list", "--since", "999999999999w"},
                            {"sessions", "list", "--after", "nonsense"},
                            {"sessions", "list", "--after", "a:%g0"},
                            {"sessions", "list", "--wait", "soon"},
                            {"snapshots", "label", "s2"},
                            {"snapshots", "prune"},
                            {"completion", "tcsh"}}) {
    const auto result = run(arguments);
    EXPECT_EQ(result.code, 2) << result.err;
    EXPECT_EQ(result.out, "");
    EXPECT_TRUE(result.err.starts_with("tertulia: ")) << result.err;
    EXPECT_EQ(json::parse(run(joined(arguments, {"--json"})).err)
                .at("error")
                .at("exitCode"),
              2);
  }
  EXPECT_TRUE(has(run({"sessions", "nonsense"}).err,
                  "tertulia sessions does not know \"nonsense\""));
}

TEST_F(tool, helps_whoever_asks) {
  const auto all = output({"--help"});
  for (const auto* word : {"sessions", "snapshots", "verify", "completion",
                           "Exit codes:", "SESSION@SEQUENCE", "Examples:"})
    EXPECT_TRUE(has(all, word));
  for (const auto& path : std::vector<strings>{{"sessions"},
                                               {"sessions", "list"},
                                               {"sessions", "export"},
                                               {"snapshots", "prune"},
                                               {"verify"}}) {
    const auto text = output(joined(path, {"--help"}));
    EXPECT_TRUE(has(text, "--store FILE", "Usage: tertulia " + path.front()));
  }
  EXPECT_TRUE(output({"--version"}).starts_with("tertulia "));
}

TEST_F(tool, minds_neither_a_closed_pipe_nor_hides_a_full_disk) {
  tool_process early{on_pipes, on_store({"sessions", "list"})};
  early.close_output();
  const auto result = early.wait();
  EXPECT_EQ(result.code, 0);
  EXPECT_EQ(result.err, "");
  const auto full
    = run_process({"sh", "-c",
                   std::string{TERTULIA_TOOL} + " sessions list --store "
                     + file.string() + " > /dev/full"});
  EXPECT_TRUE(full.failed(1, "standard output"));
}

TEST_F(tool, ends_at_once_when_it_is_interrupted) {
  // Opening a pipe for writing waits until the tool has opened it for reading.
  const auto pipe = (folder / "pipe").string();
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const auto text = output({"sessions", "export", "s2"});
  tool_process import{on_pipes,
                      on_store({"sessions", "import", pipe, "--as", "x"})};
  {
    std::ofstream to{pipe};
    to << text.substr(0, text.find('\n') + 1) << std::flush;
    import.send(SIGINT);
    EXPECT_EQ(import.wait().code, 130);
  }
  EXPECT_EQ(documents({"sessions", "list"}).size(), 3u);
}

} // namespace tertulia::test::tool_tests
