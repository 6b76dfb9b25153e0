// SPDX-License-Identifier: BSD-3-Clause

// Commands on kept runs. The tool runs as a process, as users run it.

#include <string>
#include <vector>

#include "support/tool_store.hpp"

using namespace std::literals;

namespace tertulia::test::tool_runs_tests {

namespace {

struct tool_runs : a_tool {
  void SetUp() override {
    a_tool::SetUp();
    file_store store{file};
    save(store, "r1", "s1", run_status::completed);
    save(store, "r2", "s1", run_status::running, 1h);
    save(store, "r3", "s2", run_status::running, 1ns);
  }

  static void save(file_store& store, const char* id, const char* session,
                   run_status status, caf::timespan beat = {}) {
    stored_run run;
    run.id = run_id{id};
    run.agent = "/agent/chat";
    run.session = session_id{session};
    run.status = status;
    run.owner = "process 7";
    run.beat = beat;
    store.get(save_run_request{run});
  }

  strings listed(strings arguments) {
    strings result;
    arguments.insert(arguments.begin(), {"runs", "list"});
    for (const auto& x : documents(std::move(arguments)))
      result.push_back(x.at("id").get<std::string>() + ' '
                       + x.at("status").get<std::string>());
    return result;
  }
};

} // namespace

TEST_F(tool_runs, are_listed_from_the_last_one) {
  EXPECT_EQ(listed({}), (strings{"r3 expired", "r2 running", "r1 completed"}));
  EXPECT_EQ(listed({"--session", "s1"}),
            (strings{"r2 running", "r1 completed"}));
  EXPECT_EQ(listed({"--status", "expired"}), strings{"r3 expired"});
  EXPECT_EQ(listed({"--limit", "1"}), strings{"r3 expired"});
  EXPECT_EQ(listed({"--agent", "/agent/other"}), strings{});
  EXPECT_TRUE(
    has(output({"runs", "list"}), "RUN", "STATUS", "r2", "/agent/chat"));
}

TEST_F(tool_runs, are_shown) {
  EXPECT_TRUE(has(output({"runs", "show", "r2"}), "r2", "running", "process 7",
                  "/agent/chat"));
  EXPECT_TRUE(run({"runs", "show", "r9"}).failed(3, "there is no run r9"));
}

TEST_F(tool_runs, are_aborted) {
  for (const auto* id : {"r2", "r3"})
    EXPECT_EQ(document({"runs", "abort", id}).at("status"), "aborted");
  EXPECT_EQ(document({"runs", "abort", "r1"}).at("status"), "completed")
    << "it was over";
  EXPECT_TRUE(run({"runs", "list", "--status", "lost"}).failed(2, "--status"));
}

} // namespace tertulia::test::tool_runs_tests
