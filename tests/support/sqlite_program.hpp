// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/sqlite_store.hpp>
#include <tertulia/status.hpp>

#include <caf/all.hpp>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "stores/sqlite/sqlite_store_actor.hpp"
#include "support/scratch.hpp"
#include <gtest/gtest.h>

namespace tertulia::test::sqlite_fault_tests {

inline session_ref session(const std::string& name) {
  return {"/agent/a", session_id{name}};
}

inline state talk(const std::string& name, int messages) {
  ai::message_log log;
  for (int i = 0; i < messages; ++i)
    log = log.with(ai::user_text("message " + std::to_string(i) + " of " + name
                                 + std::string(200, 'x')));
  return state::conversation(log, payload::of(messages), {});
}

/// Changes that a store has confirmed.
struct promises {
  /// State of each record, by session and sequence number.
  std::map<std::pair<std::string, std::uint64_t>, std::string> records;
  std::set<std::string> deleted;
  /// Number of the head record of each session.
  std::map<std::string, std::uint64_t> heads;
  /// Working state of each session.
  std::map<std::string, std::string> works_on;
  /// Label of each labelled record of "s".
  std::map<std::uint64_t, std::string> labels;
};

/// Program that works with a store and records the confirmed changes.
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

  /// Makes changes of every kind.
  void run() {
    for (int i = 1; i <= 4; ++i) {
      for (const auto* name : {"s", "t", "u"})
        save(name, talk(name, i), static_cast<std::uint64_t>(i - 1),
             append_rule::at_head);
      settle(); // these three may share a transaction
    }
    save("s", talk("s branch", 3), 2, append_rule::anywhere);
    settle();
    // No later change overwrites one of these.
    if (ask(restore_snapshot{snapshot_ref{session("s"), 4}}))
      promise([](promises& x) { x.heads["s"] = 4; });
    for (const auto& x :
         {std::pair{"s", talk("s", 7)}, std::pair{"v", talk("v", 2)}})
      if (ask(save_session{session(x.first), x.second, 9}))
        promise([&](promises& to) { to.works_on[x.first] = x.second.text(); });
    label_snapshot mark{snapshot_ref{session("s"), 5}};
    mark.add = {"label"};
    if (ask(mark))
      promise([](promises& x) { x.labels[5] = "label"; });
    ask(get_session{session("t")});
    promise([](promises& x) {
      std::erase_if(x.records,
                    [](const auto& y) { return y.first.first == "u"; });
    });
    if (ask(delete_session{session("u")}))
      promise([](promises& x) { x.deleted.insert("u"); });
    prune_snapshots old;
    old.agent = "/agent/a";
    old.session = session_id{"t"};
    old.keep_newest = 2;
    promise([](promises& x) {
      x.records.erase({"t", 1});
      x.records.erase({"t", 2});
    });
    ask(old);
    ask(vacuum_store{});
    save("t", talk("t", 6), 4, append_rule::at_head);
    settle();
  }

  /// Saves records on top of those that `run` has left, and a new session.
  void save_more() {
    save("t", talk("t", 7), 5, append_rule::anywhere);
    save("v", talk("v", 3), 0, append_rule::anywhere);
    save("n", talk("n", 11), 0, append_rule::anywhere);
    settle();
    save("n", talk("n", 12), 1, append_rule::anywhere);
    settle();
  }

  /// Makes changes of every kind on top of those of `run`, and reads all of it.
  void go_on() {
    for (const auto* name : {"s", "t", "v"}) {
      list_snapshots records{session(name)};
      records.with_orphans = true;
      records.wanted = detail_level::state;
      look_at<snapshot_page>(records);
      (void)get<stored_session>(get_session{session(name)});
    }
    for (int i = 1; i <= 3; ++i) {
      save("s", talk("s again", i), 5, append_rule::anywhere);
      save("t", talk("t again", i), 4, append_rule::anywhere);
      save("x", talk("x", i), static_cast<std::uint64_t>(i - 1),
           append_rule::anywhere);
      settle();
    }
    (void)get<session_info>(copy_session{session("s"), session("w")});
    (void)get<stored_snapshot>(restore_snapshot{snapshot_ref{session("s"), 4}});
    (void)get<snapshot_record>(
      annotate_snapshot{snapshot_ref{session("s"), 4}, "noted"});
    list_sessions all;
    all.updated_since = caf::timestamp::min();
    look_at<session_page>(all);
    look_at<verified_page>(verify_sessions{});
    (void)get<erased>(delete_session{session("w")});
    prune_snapshots none;
    none.keep_newest = 100;
    look_at<erased>(none);
    (void)get<vacuumed>(vacuum_store{});
    save("t", talk("t", 9), 4, append_rule::anywhere);
    settle();
  }

  /// Returns the damage that was reported to `go_on`.
  [[nodiscard]] const std::vector<damage>& damages() const {
    return damages_;
  }

  [[nodiscard]] promises promised() const {
    const std::scoped_lock guard{mutex_};
    return promised_;
  }

  /// Returns the codes of all errors.
  [[nodiscard]] const std::set<errc>& errors() const {
    return errors_;
  }

  /// Returns the answer; empty if it is an error.
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

  template <class Fn>
  void promise(Fn fn) {
    const std::scoped_lock guard{mutex_};
    fn(promised_);
  }

  /// Waits for the answers to all saves.
  void settle() {
    for (std::size_t i = 0; i < sent_.size(); ++i)
      self_->receive(
        [&](const saved_snapshot& x) {
          promise([&](promises& to) {
            for (const auto& [id, text] : sent_)
              if (id == x.record.state.str())
                to.records[{x.record.session.str(), x.record.sequence}] = text;
          });
        },
        [&](const caf::error& x) { errors_.insert(code_of(x)); });
    sent_.clear();
  }

  template <class Answer, class Verb>
  void look_at(const Verb& x) {
    if (const auto found = get<Answer>(x))
      damages_.insert(damages_.end(), found->damages.begin(),
                      found->damages.end());
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
  std::vector<damage> damages_;

  mutable std::mutex mutex_;
  promises promised_;
};

struct sqlite_faults : ::testing::Test {
  scratch folder;
  std::filesystem::path file = folder / "sessions.db";
};

} // namespace tertulia::test::sqlite_fault_tests
