// SPDX-License-Identifier: BSD-3-Clause

// Filters of lists use an index: a page costs the same however many other
// sessions and records exist.

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "stores/core/store_data.hpp"
#include "stores/sqlite/sqlite_tables.hpp"
#include "support/raw_sqlite.hpp"
#include "support/sqlite_files.hpp"

namespace tertulia::test::sqlite_lists_tests {

namespace {

/// Store in a file of its own, with the work of its statements.
class measured_store {
public:
  /// @param sessions number of sessions. Three of them have the label "rare"
  ///        and were changed later than 1970.
  explicit measured_store(int sessions) {
    {
      store_data to{open()};
      to.begin();
      for (int i = 0; i < sessions; ++i)
        save(to, 100'000 + i, i == 3 || i == 50 || i == 97);
      to.commit();
    }
    raw_sqlite{file_}.run(
      "UPDATE sessions SET updated_at = 0, updated_hour = 0 WHERE key NOT"
      " IN (SELECT session FROM labels WHERE label = 'rare')");
    seal_rows(file_);
    sqlite3_auto_extension(reinterpret_cast<void (*)()>(&on_open));
    data_ = std::make_unique<store_data>(open());
    sqlite3_cancel_auto_extension(reinterpret_cast<void (*)()>(&on_open));
    db_ = opened;
  }

  /// Adds records to a session.
  /// @param head its head; 0 for a new session.
  void extend(const session_ref& x, std::uint64_t records,
              std::uint64_t head = 0) {
    data_->begin();
    for (auto i = head; i < head + records; ++i)
      save(*data_, x, static_cast<int>(i), i, {});
    data_->commit();
  }

  /// Adds runs of a caller.
  void add_runs(const std::string& caller, int count) {
    data_->begin();
    for (int i = 0; i < count; ++i) {
      stored_run run;
      run.agent = "/agent/a";
      run.session = session_id{caller + "/s"};
      run.id = run_id{caller + std::to_string(1'000 + i)};
      (void)answer(*data_, save_run_request{run});
    }
    data_->commit();
  }

  template <class Verb>
  auto list(const Verb& x) {
    (void)sum(SQLITE_STMTSTATUS_VM_STEP);
    (void)sum(SQLITE_STMTSTATUS_FULLSCAN_STEP);
    return answer(*data_, x);
  }

  /// Returns a counter of all statements since the last list.
  int sum(int counter) {
    constexpr int reset = 1;
    auto result = 0;
    for (auto x = sqlite3_next_stmt(db_, nullptr); x != nullptr;
         x = sqlite3_next_stmt(db_, x))
      result += sqlite3_stmt_status(x, counter, reset);
    return result;
  }

private:
  static inline sqlite3* opened = nullptr;

  [[nodiscard]] std::shared_ptr<sqlite_tables> open() const {
    return std::make_shared<sqlite_tables>(file_, sqlite_options{});
  }

  static int on_open(sqlite3* db, char**, const sqlite3_api_routines*) {
    if (*sqlite3_db_filename(db, "main") != '\0')
      opened = db;
    return SQLITE_OK;
  }

  static void save(store_data& to, int number, bool is_rare) {
    const auto agent = number % 2 == 0 ? "/agent/a" : "/agent/b";
    std::vector<std::string> labels{"common"};
    if (is_rare)
      labels.emplace_back("rare");
    save(to, {agent, session_id{std::to_string(number)}}, number, 0, labels);
  }

  static void save(store_data& to, const session_ref& session, int number,
                   std::uint64_t parent, std::vector<std::string> labels) {
    auto request = sqlite_files::snapshot(
      session, state::plain(payload::of(number)), parent);
    request.record.labels = std::move(labels);
    (void)answer(to, std::move(request));
  }

  scratch folder_;
  std::string file_ = folder_ / "sessions.db";
  std::unique_ptr<store_data> data_;
  sqlite3* db_ = nullptr;
};

const caf::timestamp recently{std::chrono::hours{24}};

using strings = std::vector<std::string>;

strings names_in(const session_page& x) {
  strings result;
  for (const auto& y : x.sessions)
    result.push_back(y.id.str());
  return result;
}

strings names_in(const run_page& x) {
  strings result;
  for (const auto& y : x.runs)
    result.push_back(y.id.str());
  return result;
}

strings names_in(const snapshot_page& x) {
  strings result;
  for (const auto& y : x.snapshots)
    result.push_back(std::to_string(y.record.sequence));
  return result;
}

/// Returns the names of all sessions that a filter selects, page by page.
strings all_names(measured_store& in, list_sessions_request x) {
  strings result;
  x.limit = 300;
  for (auto more = true; more;) {
    const auto page = in.list(x);
    const auto names = names_in(page);
    result.insert(result.end(), names.begin(), names.end());
    more = page.more;
    if (more)
      x.after = {page.sessions.back().agent, page.sessions.back().id};
  }
  return result;
}

} // namespace

TEST(sqlite_lists, a_filter_costs_nothing_for_what_it_leaves_out) {
  measured_store few{100};
  measured_store many{400};
  const session_ref some{"/agent/c", session_id{"some"}};
  few.extend(some, 20);
  many.extend(some, 80);
  for (auto* to : {&few, &many}) {
    to->add_runs("ann", 3);
    to->add_runs("bob", to == &few ? 20 : 80);
  }
  const auto expect = [&](const auto& x, const strings& names) {
    const auto steps = [&](measured_store& in) {
      EXPECT_EQ(names_in(in.list(x)), names);
      EXPECT_EQ(in.sum(SQLITE_STMTSTATUS_FULLSCAN_STEP), 0);
      return in.sum(SQLITE_STMTSTATUS_VM_STEP);
    };
    const auto of_few = steps(few);
    EXPECT_GT(of_few, 0);
    EXPECT_EQ(of_few, steps(many));
  };

  struct row {
    std::string agent;
    std::string label;
    caf::timestamp since;
    session_ref after;
    strings names; // of the first two sessions
  };
  const std::string a = "/agent/a";
  const std::string b = "/agent/b";
  const session_ref none;
  const std::vector<row> rows{
    {"", "", {}, none, {"100000", "100002"}},
    {b, "", {}, none, {"100001", "100003"}},
    {b, "", {}, {b, session_id{"100005"}}, {"100007", "100009"}},
    {"", "rare", {}, none, {"100050", "100003"}},
    {"", "rare", {}, {a, session_id{"100050"}}, {"100003", "100097"}},
    {a, "rare", {}, none, {"100050"}},
    {b, "rare", {}, none, {"100003", "100097"}},
    {"", "none", {}, none, {}},
    {"", "", recently, none, {"100050", "100003"}},
    {"", "", recently, {b, session_id{"100003"}}, {"100097", "some"}},
    {b, "", recently, none, {"100003", "100097"}},
    {"", "rare", recently, none, {"100050", "100003"}},
    {"", "rare", caf::timestamp::max(), none, {}},
    {"", "", caf::timestamp::max(), none, {}}};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    SCOPED_TRACE(i);
    list_sessions_request x;
    x.agent = rows[i].agent;
    x.label = rows[i].label;
    x.updated_since = rows[i].since;
    x.after = rows[i].after;
    x.limit = 2;
    expect(x, rows[i].names);
  }

  list_runs_request of_ann;
  of_ann.agent = a;
  of_ann.caller = caller_name{"ann"};
  of_ann.limit = 2;
  expect(of_ann, {"ann1002", "ann1001"});
  of_ann.after = run_id{"ann1001"};
  expect(of_ann, {"ann1000"});

  for (const auto with_orphans : {false, true}) {
    list_snapshots_request x{some};
    x.with_orphans = with_orphans;
    x.limit = 2;
    expect(x, {"1", "2"});
    x.after = 9;
    expect(x, {"10", "11"});
  }
}

TEST(sqlite_lists, a_filter_may_select_more_than_a_page) {
  for (const auto sessions : {1'000, 1'001}) {
    measured_store store{sessions};
    const auto names = all_names(store, {});
    EXPECT_EQ(names.size(), static_cast<std::size_t>(sessions));
    list_sessions_request labelled;
    labelled.label = "common";
    EXPECT_EQ(all_names(store, labelled), names);
    EXPECT_EQ(store.sum(SQLITE_STMTSTATUS_FULLSCAN_STEP), 0);
    store.extend({"/agent/c", session_id{"without a label"}}, 1);
    labelled.updated_since = recently;
    EXPECT_EQ(all_names(store, labelled),
              (strings{"100050", "100003", "100097"}));
  }
}

TEST(sqlite_lists, a_session_that_changes_is_a_recent_one) {
  measured_store store{10};
  list_sessions_request recent;
  recent.updated_since = recently;
  EXPECT_EQ(all_names(store, recent), strings{"100003"});
  store.extend({"/agent/a", session_id{"100002"}}, 1, 1);
  EXPECT_EQ(all_names(store, recent), (strings{"100002", "100003"}));
}

} // namespace tertulia::test::sqlite_lists_tests
