// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/json.hpp>
#include <tertulia/sqlite_store.hpp>
#include <tertulia/status.hpp>

#include <caf/all.hpp>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "../stores/sqlite_store_actor.hpp"
#include "support/faulty_vfs.hpp"
#include "support/raw_sqlite.hpp"
#include "support/sanitized.hpp"
#include "support/scratch.hpp"
#include <gtest/gtest.h>

namespace tertulia::test {

namespace {

session_ref session(const std::string& name) {
  return {"/agent/a", session_id{name}};
}

state talk(const std::string& name, int messages) {
  ai::message_log log;
  for (int i = 0; i < messages; ++i)
    log = log.with(ai::user_text("message " + std::to_string(i) + " of " + name
                                 + std::string(200, 'x')));
  return state::conversation(log, payload::of(messages), {});
}

/// What a store has promised.
struct promises {
  /// Session and sequence number, and the state.
  std::map<std::pair<std::string, std::uint64_t>, std::string> records;
  std::set<std::string> deleted;
};

/// A program that works with a store and remembers what it was told.
class program {
public:
  explicit program(const std::filesystem::path& file,
                   durability survives = durability::power_cut) {
    sqlite_options options;
    options.survives = survives;
    store_ = spawn_sqlite_store_actor(system_, file.string(), options);
  }

  program(const program&) = delete;
  program& operator=(const program&) = delete;

  ~program() {
    self_->send_exit(store_, caf::exit_reason::user_shutdown);
    self_->wait_for(store_);
  }

  /// Some of everything.
  void run() {
    for (int i = 1; i <= 4; ++i) {
      for (const auto* name : {"s", "t", "u"})
        save(name, talk(name, i), static_cast<std::uint64_t>(i - 1),
             append_rule::at_head);
      settle(); // those three share a transaction, or not
    }
    save("s", talk("s branch", 3), 2, append_rule::anywhere);
    settle();
    ask(restore_snapshot{snapshot_ref{session("s"), 4}});
    ask(save_session{session("s"), talk("s", 7), 9});
    ask(save_session{session("v"), talk("v", 2), 1});
    label_snapshot mark{snapshot_ref{session("s"), 5}};
    mark.add = {"label"};
    ask(mark);
    ask(get_session{session("t")});
    {
      const std::scoped_lock guard{mutex_};
      std::erase_if(promised_.records,
                    [](const auto& x) { return x.first.first == "u"; });
    }
    if (ask(delete_session{session("u")})) {
      const std::scoped_lock guard{mutex_};
      promised_.deleted.insert("u");
    }
    prune_snapshots old;
    old.agent = "/agent/a";
    old.session = session_id{"t"};
    old.keep_newest = 2;
    {
      const std::scoped_lock guard{mutex_};
      promised_.records.erase({"t", 1});
      promised_.records.erase({"t", 2});
    }
    ask(old);
    ask(vacuum_store{});
    save("t", talk("t", 6), 4, append_rule::at_head);
    settle();
  }

  [[nodiscard]] promises promised() const {
    const std::scoped_lock guard{mutex_};
    return promised_;
  }

  /// The codes of all errors.
  [[nodiscard]] const std::set<errc>& errors() const {
    return errors_;
  }

  /// Returns the answer, if it is no error.
  template <class Answer, class Verb>
  std::optional<Answer> get(const Verb& x) {
    std::optional<Answer> result;
    self_->request(store_, patience, x)
      .receive([&](Answer& y) { result = std::move(y); },
               [&](caf::error& y) { errors_.insert(code_of(y)); });
    return result;
  }

private:
  static constexpr auto patience = std::chrono::seconds{30};

  void save(const std::string& name, const state& content, std::uint64_t parent,
            append_rule where) {
    snapshot_record made;
    made.agent = "/agent/a";
    made.session = session_id{name};
    made.state = content.id();
    made.id = snapshot_id{made.state.str()};
    made.parent = parent;
    self_->send(store_, save_snapshot{made, content, where});
    sent_.emplace_back(made.state.str(), content.text());
  }

  /// Waits for what was saved.
  void settle() {
    for (std::size_t i = 0; i < sent_.size(); ++i)
      self_->receive(
        [&](const saved_snapshot& x) {
          const std::scoped_lock guard{mutex_};
          for (const auto& [id, text] : sent_)
            if (id == x.record.state.str())
              promised_.records[{x.record.session.str(), x.record.sequence}]
                = text;
        },
        [&](const caf::error& x) { errors_.insert(code_of(x)); });
    sent_.clear();
  }

  template <class Verb>
  bool ask(const Verb& x) {
    auto result = false;
    self_->send(store_, x);
    self_->receive([&](const caf::error& y) { errors_.insert(code_of(y)); },
                   [&](const stored_snapshot&) { result = true; },
                   [&](const session_info&) { result = true; },
                   [&](const snapshot_record&) { result = true; },
                   [&](const stored_session&) { result = true; },
                   [&](const erased&) { result = true; },
                   [&](const vacuumed&) { result = true; });
    return result;
  }

  caf::actor_system_config cfg_;
  caf::actor_system system_{cfg_};
  caf::scoped_actor self_{system_};
  managed_store store_;
  std::vector<std::pair<std::string, std::string>> sent_;
  std::set<errc> errors_;

  mutable std::mutex mutex_;
  promises promised_;
};

/// What is wrong with a file after whatever has happened; empty for nothing.
std::string damage_of(const std::filesystem::path& file, const promises& all) {
  std::string result;
  auto complain = [&](const std::string& text) { result += text + '\n'; };
  {
    program again{file, durability::process};
    for (const auto& [where, text] : all.records) {
      const snapshot_ref which{session(where.first), where.second};
      const auto found = again.get<stored_snapshot>(get_snapshot{which});
      if (!found || found->content.text() != text)
        complain("record " + std::to_string(where.second) + " of " + where.first
                 + (found ? " is another one" : " is gone"));
    }
    const auto sessions = again.get<session_page>(list_sessions{});
    if (!sessions)
      return result + "there is no list of sessions";
    for (const auto& info : sessions->sessions) {
      const auto name = info.id.str();
      if (all.deleted.contains(name))
        complain(name + " is there again");
      if (!again.get<stored_session>(get_session{session(name)}))
        complain(name + " cannot be read");
      list_snapshots records{session(name)};
      records.with_orphans = true;
      records.wanted = detail_level::state;
      const auto page = again.get<snapshot_page>(records);
      if (!page || page->snapshots.size() != info.records)
        complain(name + " has other records than it says");
    }
  }
  raw_sqlite db{file};
  if (const auto text = db.texts("PRAGMA integrity_check").at(0); text != "ok")
    complain(text);
  if (!db.texts("PRAGMA foreign_key_check").empty())
    complain("something refers to what is not there");
  for (const auto* nothing :
       {"SELECT count(*) FROM states s WHERE NOT EXISTS"
        " (SELECT 1 FROM records WHERE state = s.key) AND NOT EXISTS"
        " (SELECT 1 FROM sessions WHERE state = s.key)",
        "SELECT count(*) FROM blobs b WHERE NOT EXISTS"
        " (SELECT 1 FROM states WHERE b.key IN (custom, artifacts))",
        "SELECT count(*) FROM messages m WHERE (m.key & 4294967295) >="
        " max((SELECT coalesce(max(length), 0) FROM states"
        "      WHERE branch = m.key >> 32),"
        "     (SELECT coalesce(max(start), 0) FROM branches"
        "      WHERE parent = m.key >> 32))"})
    if (db.number(nothing) != 0)
      complain(std::string{nothing} + " is not 0");
  return result;
}

struct sqlite_faults : ::testing::Test {
  scratch folder;
  std::filesystem::path file = folder / "sessions.db";
};

/// Whether this is what a disk is expected to be blamed for.
bool is_fault(errc x) {
  return x == errc::unavailable
         || x == errc::resource_exhausted
         // what comes after something that did not happen
         || x == errc::not_found || x == errc::aborted;
}

} // namespace

TEST_F(sqlite_faults, without_any_all_is_kept) {
  const faulty_vfs disk;
  promises all;
  {
    program x{file};
    x.run();
    all = x.promised();
    EXPECT_TRUE(x.errors().empty());
  }
  EXPECT_EQ(all.records.size(), 4u + 1u + 2u + 1u);
  EXPECT_EQ(damage_of(file, all), "");
}

TEST_F(sqlite_faults, each_call_may_fail_once_or_for_ever) {
  constexpr std::uint64_t step = sanitized ? 5 : 1;
  for (const auto for_ever : {false, true}) {
    auto missed = false;
    std::uint64_t noticed = 0;
    for (std::uint64_t n = 1; !missed; n += step) {
      const scratch here;
      const auto there = here / "sessions.db";
      promises all;
      {
        faulty_vfs disk;
        disk.fail_at(n, for_ever);
        try {
          program x{there};
          x.run();
          all = x.promised();
          noticed += x.errors().empty() ? 0 : 1;
          for (const auto code : x.errors())
            EXPECT_TRUE(is_fault(code)) << to_string(code) << " at " << n;
        } catch (const status_error& x) {
          ++noticed;
          EXPECT_TRUE(is_fault(x.code())) << x.what() << " at " << n;
        }
        missed = disk.calls() < n;
      }
      ASSERT_EQ(damage_of(there, all), "")
        << "call " << n << " failed" << (for_ever ? " and all after" : "");
      ASSERT_LT(n, 10'000u);
    }
    EXPECT_GT(noticed, 50 / step);
  }
}

TEST_F(sqlite_faults, a_disk_may_be_full_at_any_time) {
  auto fits = false;
  for (std::int64_t room = 0; !fits; room += 20'000) {
    const scratch here;
    const auto there = here / "sessions.db";
    promises all;
    {
      faulty_vfs disk;
      disk.fill_after(room);
      try {
        program x{there};
        x.run();
        all = x.promised();
        fits = x.errors().empty();
        EXPECT_TRUE(fits || x.errors().contains(errc::resource_exhausted));
      } catch (const status_error& x) {
        EXPECT_EQ(x.code(), errc::resource_exhausted) << x.what();
      }
    }
    ASSERT_EQ(damage_of(there, all), "") << room;
    ASSERT_LT(room, 100'000'000);
  }
}

namespace {

/// Cuts the power at every third call and looks at what is left.
/// @returns how often there was damage.
int power_cuts(durability survives, bool promised, std::string& what) {
  auto result = 0;
  auto missed = false;
  for (std::uint32_t n = 1; !missed && n < 10'000; n += 3) {
    const scratch here;
    const scratch left;
    promises then;
    {
      faulty_vfs disk;
      program x{here / "sessions.db", survives};
      missed = true;
      disk.watch(n, [&] {
        missed = false;
        if (promised)
          then = x.promised();
        disk.cut_power(left / "", n);
      });
      x.run();
      disk.watch(0, {});
    }
    if (missed)
      continue;
    if (const auto text = damage_of(left / "sessions.db", then);
        !text.empty()) {
      ++result;
      what += "call " + std::to_string(n) + ": " + text;
    }
  }
  return result;
}

} // namespace

TEST_F(sqlite_faults, a_power_cut_takes_nothing_that_was_answered) {
  std::string what;
  EXPECT_EQ(power_cuts(durability::power_cut, true, what), 0) << what;
}

TEST_F(sqlite_faults, a_power_cut_may_take_answers_of_who_has_traded_that) {
  std::string what;
  EXPECT_EQ(power_cuts(durability::process, false, what), 0) << what;
  EXPECT_GT(power_cuts(durability::process, true, what), 0);
}

TEST_F(sqlite_faults, a_flipped_bit_is_the_loss_of_what_has_it) {
  {
    program x{file};
    x.run();
    ASSERT_TRUE(x.get<snapshot_record>(
      annotate_snapshot{snapshot_ref{session("s"), 2}, "remarkable"}));
    ASSERT_TRUE(x.get<session_info>(title_session{session("v"), "entitled"}));
  }
  std::string bytes;
  {
    std::ifstream from{file, std::ios::binary};
    bytes.assign(std::istreambuf_iterator<char>{from}, {});
  }
  struct hit {
    const char* text; // a bit of it is flipped
    const char* session;
    std::uint64_t sequence; // 0 for the session
    bool in_lists;          // or only in the state
  };
  for (const auto& x :
       {hit{"message 2 of s branch", "s", 5, false},
        hit{"remarkable", "s", 2, true}, hit{"entitled", "v", 0, true}}) {
    const auto at = bytes.find(x.text);
    ASSERT_NE(at, std::string::npos) << x.text;
    ASSERT_EQ(bytes.find(x.text, at + 1), std::string::npos) << x.text;
    faulty_vfs disk;
    disk.flip(std::filesystem::canonical(file), at * 8 + 2);
    program again{file};
    const auto is_hit = [&](const std::string& name, std::uint64_t sequence) {
      return name == x.session && sequence == x.sequence;
    };
    for (const auto* name : {"s", "t", "v"}) {
      const auto found = again.get<stored_session>(get_session{session(name)});
      EXPECT_EQ(found.has_value(), !is_hit(name, 0)) << x.text << name;
      if (!found)
        continue;
      list_snapshots records{session(name)};
      records.with_orphans = true;
      const auto page = again.get<snapshot_page>(records);
      ASSERT_TRUE(page) << x.text << name;
      EXPECT_EQ(page->snapshots.size() + page->damages.size(),
                found->info.records);
      for (const auto& y : page->damages)
        EXPECT_TRUE(x.in_lists && is_hit(name, y.sequence)) << y.what;
      for (const auto& y : page->snapshots) {
        const auto sequence = y.record.sequence;
        const auto one = again.get<stored_snapshot>(
          get_snapshot{snapshot_ref{session(name), sequence}});
        EXPECT_EQ(one.has_value(), !is_hit(name, sequence))
          << x.text << name << sequence;
      }
    }
    list_sessions all;
    all.updated_since = caf::timestamp::min();
    const auto sessions = again.get<session_page>(all);
    ASSERT_TRUE(sessions) << x.text;
    EXPECT_EQ(sessions->damages.size(), x.sequence == 0 ? 1u : 0u) << x.text;
    EXPECT_EQ(sessions->sessions.size() + sessions->damages.size(), 3u);
    const auto verified = again.get<verified_page>(verify_sessions{});
    ASSERT_TRUE(verified) << x.text;
    ASSERT_EQ(verified->damages.size(), 1u) << x.text;
    EXPECT_EQ(verified->damages[0].where, session(x.session)) << x.text;
    EXPECT_EQ(verified->damages[0].sequence, x.sequence) << x.text;
    for (const auto code : again.errors())
      EXPECT_EQ(code, errc::data_loss) << x.text;
  }
}

namespace {

/// All that a store says of sessions and records, or what it says instead.
struct account {
  std::map<std::string, std::string> lines;
  std::set<errc> errors;
};

/// Asks for everything by session and sequence number.
/// @param deleted a session that is deleted before that; empty for none.
account account_of(const std::filesystem::path& file,
                   const std::string& deleted = {}) {
  account result;
  try {
    program x{file, durability::process};
    if (!deleted.empty())
      (void)x.get<erased>(delete_session{session(deleted)});
    for (const std::string name : {"s", "t", "v"}) {
      if (name == deleted)
        continue;
      const auto of = session(name);
      if (const auto found = x.get<stored_session>(get_session{of}))
        result.lines[name] = to_json_text(found->info) + found->content.text();
      for (std::uint64_t i = 1; i <= 5; ++i)
        if (auto found
            = x.get<stored_snapshot>(get_snapshot{snapshot_ref{of, i}})) {
          // Damage elsewhere may hide which way the head has come, and what the
          // id of a parent is.
          found->record.orphaned = false;
          if (!found->record.parent_id.empty())
            result.lines[name + std::to_string(i) + " parent"]
              = found->record.parent_id.str();
          found->record.parent_id = {};
          result.lines[name + std::to_string(i)]
            = to_json_text(found->record) + found->content.text();
        }
    }
    list_sessions all;
    all.updated_since = caf::timestamp::min();
    if (const auto page = x.get<session_page>(all))
      for (const auto& info : page->sessions)
        result.lines["list " + info.id.str()] = to_json_text(info);
    if (const auto page = x.get<verified_page>(verify_sessions{})) {
      std::string text;
      for (const auto& y : page->damages)
        text += to_json_text(y) + '\n';
      result.lines["verified"] = text;
    }
    result.errors = x.errors();
  } catch (const status_error& x) {
    result.errors.insert(x.code());
  }
  return result;
}

} // namespace

TEST_F(sqlite_faults, a_flipped_bit_is_never_taken_for_what_was_saved) {
  {
    program x{file};
    x.run();
  }
  const auto truth = account_of(file);
  ASSERT_EQ(truth.lines.size(), 3u + 8u + 6u + 3u + 1u);
  ASSERT_EQ(truth.lines.at("verified"), "");
  const auto bits = std::filesystem::file_size(file) * 8;
  const std::set<errc> expected{errc::data_loss, errc::failed_precondition,
                                errc::not_found};
  std::mt19937_64 random{7};
  auto losses = 0;
  for (int i = 0; i < (sanitized ? 100 : 1'500); ++i) {
    const auto bit = random() % bits;
    const scratch here;
    const auto copy = here / "sessions.db";
    std::filesystem::copy_file(file, copy);
    faulty_vfs disk;
    disk.flip(std::filesystem::canonical(copy), bit);
    const auto told = account_of(copy);
    auto lost = false;
    for (const auto& [what, text] : truth.lines) {
      const auto found = told.lines.find(what);
      if (found == told.lines.end()) {
        lost = true;
      } else if (what != "verified") {
        EXPECT_EQ(found->second, text) << what << ", bit " << bit;
      }
    }
    for (const auto code : told.errors)
      EXPECT_TRUE(expected.contains(code))
        << to_string(code) << ", bit " << bit;
    if (!lost)
      continue;
    ++losses;
    const auto verified = told.lines.find("verified");
    const auto is_noticed = verified == told.lines.end()
                            || !verified->second.empty()
                            || told.errors.contains(errc::data_loss);
    EXPECT_TRUE(is_noticed) << "bit " << bit;
  }
  EXPECT_GT(losses, sanitized ? 0 : 50);
}

TEST_F(sqlite_faults,
       a_deletion_beside_a_flipped_bit_changes_no_other_content) {
  {
    program x{file};
    x.run();
  }
  const auto truth = account_of(file);
  const auto bits = std::filesystem::file_size(file) * 8;
  std::mt19937_64 random{11};
  auto deletions = 0;
  for (int i = 0; i < (sanitized ? 50 : 700); ++i) {
    const auto bit = random() % bits;
    const scratch here;
    const auto copy = here / "sessions.db";
    std::filesystem::copy_file(file, copy);
    faulty_vfs disk;
    disk.flip(std::filesystem::canonical(copy), bit);
    const auto told = account_of(copy, "t");
    deletions += told.errors.contains(errc::data_loss) ? 0 : 1;
    for (const auto& [what, text] : told.lines) {
      if (what != "verified" && what != "list t") {
        EXPECT_EQ(truth.lines.at(what), text) << what << ", bit " << bit;
      }
    }
  }
  EXPECT_GT(deletions, 0);
}

} // namespace tertulia::test
