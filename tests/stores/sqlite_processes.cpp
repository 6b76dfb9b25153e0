// SPDX-License-Identifier: BSD-3-Clause

// Content of a store file after processes were killed at any moment, and the
// effects of two processes on each other.

#include <tertulia/sqlite_store.hpp>
#include <tertulia/store.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "support/child_process.hpp"
#include "support/effort.hpp"
#include "support/file_store.hpp"
#include "support/refusal.hpp"
#include "support/sqlite_files.hpp"

using namespace std::chrono_literals;

namespace tertulia::test::sqlite_processes_tests {

namespace {

struct sqlite_processes : sqlite_files {
  static constexpr std::size_t flows = 2;

  /// Output of a process before it was killed.
  struct received {
    /// Snapshots of each flow, oldest first.
    std::array<std::vector<std::string>, flows> snapshots;
    int count = 0;
  };

  /// Starts a process that takes turns.
  child_process start() {
    return {"turns_on_disk", {file.string(), from[0], from[1]}};
  }

  /// Reads the output of a process, up to a number of lines or to its end.
  static void listen(child_process& to, received& into, std::size_t lines) {
    for (; lines > 0; --lines) {
      const auto line = to.read_line();
      if (line.empty())
        return;
      const auto value = line.substr(line.find(' ') + 1);
      if (line.starts_with("count "))
        into.count = std::stoi(value);
      else if (line[0] == '0' || line[0] == '1')
        into.snapshots.at(line[0] == '1' ? 1 : 0).push_back(value);
    }
  }

  /// Kills a process, and reads the rest of its output.
  static void kill(child_process& x, received& into) {
    x.kill();
    listen(x, into, SIZE_MAX);
  }

  /// Checks the output of a process against the store, and the heads of all
  /// sessions.
  static void check(file_store& store, const received& x) {
    for (const auto& flow : x.snapshots)
      for (const auto& id : flow) {
        const snapshot_ref snapshot{"/session-flow/notes", {}, snapshot_id{id}};
        const auto there = store.get(get_snapshot_request{snapshot});
        ASSERT_EQ(there.record.id, snapshot.id);
        // Each turn adds two messages and counts one.
        const auto turns = there.record.turn_index + 1;
        ASSERT_EQ(there.content.messages().size(), 2 * turns);
        ASSERT_EQ(payload{there.content.custom()}.take<int>(), turns);
      }
    if (x.count > 0) {
      const session_ref session{"/agent/counter", session_id{"s"}};
      const auto there = store.get(get_session_request{session});
      ASSERT_GE(payload{there.content.custom()}.take<int>(), x.count);
    }
    const auto all = store.get(list_sessions_request{});
    ASSERT_FALSE(all.more);
    for (const auto& info : all.sessions) {
      const auto there = store.get(get_session_request{
        session_ref{info.agent, info.id}, detail_level::record});
      ASSERT_EQ(there.info, info);
      ASSERT_EQ(there.head ? true : false, info.records > 0);
    }
  }

  /// Reads and hashes the whole content of a store.
  /// @returns the number of records.
  static std::uint64_t verify_all(file_store& store) {
    std::uint64_t records = 0;
    verify_sessions_request next;
    verification_page page;
    do {
      page = store.get(next);
      EXPECT_TRUE(page.damages.empty());
      records += page.records;
      next.after = page.last;
      next.after_record = page.last_record;
    } while (page.more);
    return records;
  }

  /// Snapshots from which the flows continue; "-" for a new conversation.
  std::array<std::string, flows> from = {"-", "-"};
};

} // namespace

TEST_F(sqlite_processes, keep_what_was_acknowledged_however_often_killed) {
  const auto rounds = by_effort(50u, 150u, 500u);
  std::mt19937 random{1};
  std::uint64_t acknowledged = 0;
  for (unsigned round = 0; round < rounds && !HasFatalFailure(); ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    if (round % 20 == 0)
      from = {"-", "-"}; // so that conversations do not grow for ever
    received said;
    auto process = start();
    listen(process, said, random() % 20);
    // Kill it at a random point before its next line.
    for (auto i = random() % 500'000; i > 0; --i)
      std::atomic_signal_fence(std::memory_order_seq_cst);
    kill(process, said);
    file_store store{file};
    check(store, said);
    for (std::size_t i = 0; i < flows; ++i)
      if (const auto& ids = said.snapshots.at(i); !ids.empty()) {
        acknowledged += ids.size();
        from.at(i) = ids.back();
      }
  }
  file_store store{file};
  EXPECT_GE(verify_all(store), acknowledged);
  for (const auto& info : store.get(list_sessions_request{}).sessions)
    EXPECT_EQ(
      store.get(get_session_request{session_ref{info.agent, info.id}}).info,
      info);
  // The processes made progress before they were killed.
  EXPECT_GT(acknowledged, 2 * rounds);
}

TEST_F(sqlite_processes, cannot_have_one_file_at_the_same_time) {
  auto process = start();
  received said;
  listen(process, said, 10);
  options.patience = 0s;
  const auto refusal = error_of([&] { return file_store{file, options}; });
  EXPECT_EQ(refusal.code(), errc::unavailable);
  EXPECT_NE(refusal.message().find(file.string()), std::string::npos);
  // The first process continues undisturbed.
  const auto before = said.count;
  while (said.count < before + 3)
    listen(process, said, 1);
  kill(process, said);
  file_store store{file, options};
  check(store, said);
  EXPECT_GT(verify_all(store), 0u);
}

TEST_F(sqlite_processes, wait_for_each_other) {
  auto process = start();
  received said;
  listen(process, said, 10);
  // Two more processes wait for the file. One of them gets it whenever its
  // owner is killed.
  auto second = start();
  auto third = start();
  for (auto* waiting : {&second, &third}) {
    EXPECT_EQ(waiting->read_line(), "starts");
    EXPECT_EQ(waiting->read_line(), "opens");
  }
  kill(process, said);
  received more;
  kill(third, more);
  EXPECT_EQ(second.read_line(), "is open");
  kill(second, more);
  file_store store{file};
  check(store, said);
}

} // namespace tertulia::test::sqlite_processes_tests
