// SPDX-License-Identifier: BSD-3-Clause

// A store belongs to a file and not to a name: however many names the file has,
// and whatever happens to them while the store is open.

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "support/child_process.hpp"
#include "support/file_store.hpp"
#include "support/refusal.hpp"
#include "support/sqlite_files.hpp"
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/stat.h>

using namespace std::chrono_literals;

namespace tertulia::test::sqlite_names_tests {

namespace {

namespace fs = std::filesystem;

/// Changes the current folder, and restores it at the end of its lifetime.
class visit {
public:
  explicit visit(const fs::path& folder) : before_(fs::current_path()) {
    fs::current_path(folder);
  }

  visit(const visit&) = delete;
  visit& operator=(const visit&) = delete;

  ~visit() {
    fs::current_path(before_);
  }

private:
  fs::path before_;
};

struct sqlite_names : sqlite_files {
  sqlite_names() {
    for (const auto* name : {"here", "there"})
      fs::create_directory(folder / name);
    file = folder / "here" / "sessions.db";
    options.patience = 0s;
  }

  /// Returns the error for a client that opens a file as an application does.
  status_error refusal_of(const fs::path& name) {
    return error_of([&] {
      caf::actor_system_config cfg;
      caf::actor_system system{cfg};
      caf::scoped_actor self{system};
      const auto store = spawn_sqlite_store(system, name, options);
      self->send_exit(store, caf::exit_reason::user_shutdown);
      self->wait_for(store);
    });
  }

  static save_session_request change(const std::string& name) {
    return {session(name), state::plain(payload::of(1)), 0};
  }

  static errc saved(file_store& store, const std::string& session) {
    return store.code(change(session));
  }

  static std::vector<std::string> sessions(const fs::path& file) {
    return raw_sqlite{file}.texts("SELECT id FROM sessions ORDER BY id");
  }

  std::vector<std::string> names_in(const char* where) const {
    std::vector<std::string> result;
    for (const auto& x : fs::directory_iterator{folder / where})
      result.push_back(x.path().filename());
    std::sort(result.begin(), result.end());
    return result;
  }
};

} // namespace

// -- one file -----------------------------------------------------------------

TEST_F(sqlite_names, of_one_file_are_all_in_use_at_once) {
  const file_store first{file};
  const auto link = folder / "there" / "link.db";
  fs::create_symlink(file, link);
  const auto hard_link = folder / "there" / "hard.db";
  fs::create_hard_link(file, hard_link);
  for (const auto& name : {file, link, hard_link,
                           folder / "here" / ".." / "here" / "sessions.db"}) {
    const auto reason = refusal_of(name);
    EXPECT_EQ(reason.code(), errc::unavailable) << name;
    EXPECT_EQ(json::parse(reason.details()).at("inUse"), true) << name;
  }
  const visit here{folder / "here"};
  EXPECT_EQ(refusal_of("sessions.db").code(), errc::unavailable);
}

TEST_F(sqlite_names, of_a_file_that_is_mounted_twice_are_in_use_at_once) {
  const file_store first{file};
  const auto place = folder / "there" / "sessions.db";
  std::ofstream{place}.close();
  if (::mount(file.c_str(), place.c_str(), nullptr, MS_BIND, nullptr) != 0)
    GTEST_SKIP() << "nothing can be mounted here";
  EXPECT_EQ(refusal_of(place).code(), errc::unavailable);
  EXPECT_EQ(::umount(place.c_str()), 0);
}

TEST_F(sqlite_names, of_a_file_with_two_of_them_are_refused) {
  { const file_store first{file}; }
  const auto other = folder / "there" / "hard.db";
  fs::create_hard_link(file, other);
  for (const auto& name : {file, other})
    EXPECT_EQ(refusal_of(name).code(), errc::failed_precondition) << name;
  fs::remove(other);
  EXPECT_EQ(refusal_of(file).code(), errc::ok);
}

TEST_F(sqlite_names, are_those_of_files_and_nothing_else) {
  const visit here{folder / "here"};
  for (const auto* name :
       {"file:z.db", "file:z.db?mode=memory", ":memory:", "a file.db"}) {
    EXPECT_EQ(refusal_of(name).code(), errc::ok) << name;
    EXPECT_TRUE(fs::is_regular_file(folder / "here" / name)) << name;
  }
  EXPECT_EQ(names_in("here").size(), 4u);
  const file_store first{folder / "here" / "file:z.db"};
  EXPECT_EQ(refusal_of("file:z.db").code(), errc::unavailable);
  for (const auto& name : {std::string{}, std::string{"a\0b", 3}})
    EXPECT_EQ(refusal_of(name).code(), errc::invalid_argument);
}

TEST_F(sqlite_names, are_the_same_file_wherever_a_process_has_gone) {
  store_factory open;
  {
    const visit here{folder / "here"};
    open = stores_in_file("new.db", options);
  }
  for (const auto* place : {"here", "there"}) {
    const visit other{folder / place};
    caf::actor_system_config cfg;
    caf::actor_system system{cfg};
    caf::scoped_actor self{system};
    const auto store = open(system); // as a supervisor does
    self->send_exit(store, caf::exit_reason::user_shutdown);
    self->wait_for(store);
  }
  EXPECT_EQ(names_in("here"), std::vector<std::string>{"new.db"});
  EXPECT_TRUE(fs::is_empty(folder / "there"));
}

TEST_F(sqlite_names, that_are_refused_leave_the_locks_of_sqlite_alone) {
  auto first = std::make_unique<file_store>(file);
  const auto hard_link = folder / "there" / "hard.db";
  fs::create_hard_link(file, hard_link);
  for (const auto& name : {file, hard_link})
    EXPECT_EQ(refusal_of(name).code(), errc::unavailable);
  const auto handle = ::open(file.c_str(), O_RDWR | O_CLOEXEC);
  struct flock all {};
  all.l_type = F_WRLCK;
  EXPECT_EQ(::fcntl(handle, F_OFD_GETLK, &all), 0);
  EXPECT_EQ(all.l_type, F_RDLCK); // lock of a reader, held while it is open
  first.reset();
  ::close(handle);
}

// -- a file that disappears ---------------------------------------------------

TEST_F(sqlite_names, that_are_gone_take_nothing_more) {
  file_store store{file};
  EXPECT_EQ(saved(store, "kept"), errc::ok);
  for (const auto* suffix : {"", "-wal", "-shm"})
    fs::remove(file.string() + suffix);
  EXPECT_EQ(saved(store, "lost"), errc::data_loss);
  const auto reason = store.ask(change("lost"));
  ASSERT_FALSE(reason);
  EXPECT_NE(to_status(reason.error()).message().find(file.string()),
            std::string::npos);
  // All requests of one batch fail, too.
  for (const auto* name : {"a", "b", "c"})
    store.send(change(name));
  store.receive(
    3, [](const session_info&) { ADD_FAILURE() << "was saved"; },
    [](const caf::error& x) { EXPECT_EQ(code_of(x), errc::data_loss); });
  // Pruning and vacuuming are writes.
  EXPECT_EQ(store.code(prune_snapshots_request{}), errc::data_loss);
  EXPECT_EQ(store.code(vacuum_store_request{}), errc::data_loss);
  EXPECT_TRUE(fs::is_empty(folder / "here"));
}

TEST_F(sqlite_names,
       of_a_file_that_was_moved_take_nothing_more_until_it_is_back) {
  file_store store{file};
  const auto moved = folder / "there" / "sessions.db";
  fs::rename(file, moved);
  EXPECT_EQ(saved(store, "s"), errc::data_loss);
  fs::rename(moved, file);
  EXPECT_EQ(saved(store, "s"), errc::ok);
}

TEST_F(sqlite_names, of_a_log_that_was_removed_take_nothing_more) {
  {
    file_store store{file};
    EXPECT_EQ(saved(store, "kept"), errc::ok);
    fs::remove(file.string() + "-wal");
    EXPECT_EQ(saved(store, "lost"), errc::data_loss);
  }
  EXPECT_EQ(sessions(file), std::vector<std::string>{"kept"});
}

TEST_F(sqlite_names, belong_to_the_store_that_has_them_now) {
  auto old = std::make_unique<file_store>(file);
  EXPECT_EQ(saved(*old, "old"), errc::ok);
  for (const auto* suffix : {"", "-wal", "-shm"})
    fs::remove(file.string() + suffix);
  file_store store{file};
  EXPECT_EQ(saved(store, "new"), errc::ok);
  EXPECT_EQ(saved(*old, "lost"), errc::data_loss);
  old.reset(); // must not remove the log of the new store
  EXPECT_EQ(saved(store, "newer"), errc::ok);
  EXPECT_EQ(sessions(file), (std::vector<std::string>{"new", "newer"}));
}

// -- files that are not stores ------------------------------------------------

TEST_F(sqlite_names, of_pipes_are_refused_at_once) {
  { const file_store store{file}; }
  for (const auto* suffix : {"-wal", "-shm", "-journal", ".db"}) {
    const auto pipe = file.string() + suffix;
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0) << pipe;
    const auto reason = refusal_of(suffix[0] == '-' ? file : fs::path{pipe});
    EXPECT_EQ(reason.code(), errc::failed_precondition) << pipe;
    EXPECT_NE(reason.message().find(pipe), std::string::npos)
      << reason.message();
    fs::remove(pipe);
  }
  EXPECT_EQ(refusal_of(folder / "here").code(), errc::failed_precondition);
  EXPECT_EQ(refusal_of("/dev/null").code(), errc::failed_precondition);
}

TEST_F(sqlite_names, of_what_is_not_a_store_have_nothing_beside_them) {
  std::ofstream{file} << std::string(10'000, 'x');
  EXPECT_EQ(refusal_of(file).code(), errc::failed_precondition);
  const auto other = folder / "there" / "recipes.db";
  raw_sqlite{other}.run("PRAGMA journal_mode = WAL;"
                        "CREATE TABLE recipes (text TEXT)");
  EXPECT_EQ(refusal_of(other).code(), errc::failed_precondition);
  EXPECT_EQ(names_in("here"), std::vector<std::string>{"sessions.db"});
  EXPECT_EQ(names_in("there"), std::vector<std::string>{"recipes.db"});
}

// -- a process with limits ----------------------------------------------------

struct sqlite_limits : sqlite_names {
  tool_result run(const char* what) const {
    return child_process{"cramped_store", {what, file.string()}}.wait();
  }
};

TEST_F(sqlite_limits, of_descriptors_give_no_file_the_number_of_an_output) {
  const auto result = run("descriptors");
  EXPECT_EQ(result.code, 0);
  EXPECT_EQ(result.out, "0: /dev/null\n1: /dev/null\n2: /dev/null\n");
}

TEST_F(sqlite_limits, of_the_size_of_files_are_resource_exhausted) {
  const auto result = run("size");
  EXPECT_EQ(result.code, 0) << "killed by " << result.code - 128;
  EXPECT_EQ(result.out, "opening: resource_exhausted\n"
                        "opened\n"
                        "saving: resource_exhausted\n"
                        "saved\n"
                        "signal: as before\n");
  EXPECT_EQ(raw_sqlite{file}.texts("PRAGMA integrity_check").front(), "ok");
}

} // namespace tertulia::test::sqlite_names_tests
