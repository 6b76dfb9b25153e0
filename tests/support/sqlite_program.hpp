// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/sqlite_store.hpp>
#include <tertulia/status.hpp>

#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "support/file_store.hpp"
#include "support/sqlite_files.hpp"

namespace tertulia::test::sqlite_fault_tests {

inline state talk(const std::string& name, int messages) {
  ai::message_log log;
  for (int i = 0; i < messages; ++i)
    log = log.with(ai::user_text("message " + std::to_string(i) + " of " + name
                                 + std::string(200, 'x')));
  return state::conversation(log, payload::of(messages), {});
}

struct sqlite_faults : sqlite_files {};

inline session_ref session(const std::string& name) {
  return sqlite_files::session(name);
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
                   durability survives = durability::power_cut)
    : store_(file, options_of(survives)) {}

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
    if (get(restore_snapshot_request{snapshot_ref{session("s"), 4}}))
      promise([](promises& x) { x.heads["s"] = 4; });
    for (const auto& x :
         {std::pair{"s", talk("s", 7)}, std::pair{"v", talk("v", 2)}})
      if (get(save_session_request{session(x.first), x.second, 9}))
        promise([&](promises& to) { to.works_on[x.first] = x.second.text(); });
    label_snapshot_request mark{snapshot_ref{session("s"), 5}};
    mark.add = {"label"};
    if (get(mark))
      promise([](promises& x) { x.labels[5] = "label"; });
    (void)get(get_session_request{session("t")});
    promise([](promises& x) {
      std::erase_if(x.records,
                    [](const auto& y) { return y.first.first == "u"; });
    });
    if (get(delete_session_request{session("u")}))
      promise([](promises& x) { x.deleted.insert("u"); });
    prune_snapshots_request old;
    old.agent = "/agent/a";
    old.session = session_id{"t"};
    old.keep_newest = 2;
    promise([](promises& x) {
      x.records.erase({"t", 1});
      x.records.erase({"t", 2});
    });
    (void)get(old);
    (void)get(vacuum_store_request{});
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
      list_snapshots_request records{session(name)};
      records.with_orphans = true;
      records.detail = detail_level::state;
      look_at(records);
      (void)get(get_session_request{session(name)});
    }
    for (int i = 1; i <= 3; ++i) {
      save("s", talk("s again", i), 5, append_rule::anywhere);
      save("t", talk("t again", i), 4, append_rule::anywhere);
      save("x", talk("x", i), static_cast<std::uint64_t>(i - 1),
           append_rule::anywhere);
      settle();
    }
    (void)get(copy_session_request{session("s"), session("w")});
    (void)get(restore_snapshot_request{snapshot_ref{session("s"), 4}});
    (void)get(
      annotate_snapshot_request{snapshot_ref{session("s"), 4}, "noted"});
    list_sessions_request all;
    all.updated_since = caf::timestamp::min();
    look_at(all);
    look_at(verify_sessions_request{});
    (void)get(delete_session_request{session("w")});
    prune_snapshots_request none;
    none.keep_newest = 100;
    look_at(none);
    (void)get(vacuum_store_request{});
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
  template <class Verb>
  std::optional<detail::answer_to<Verb>> get(const Verb& x) {
    auto result = store_.ask(x);
    if (result)
      return std::move(*result);
    errors_.insert(code_of(result.error()));
    return std::nullopt;
  }

private:
  static sqlite_options options_of(durability survives) {
    sqlite_options result;
    result.survives = survives;
    return result;
  }

  void save(const std::string& name, const state& content, std::uint64_t parent,
            append_rule rule) {
    const auto request
      = sqlite_files::snapshot(session(name), content, parent, rule);
    store_.send(request);
    sent_.emplace_back(request.record.state.str(), content.text());
  }

  template <class Fn>
  void promise(Fn fn) {
    const std::scoped_lock guard{mutex_};
    fn(promised_);
  }

  /// Waits for the answers to all saves.
  void settle() {
    store_.receive(
      static_cast<int>(sent_.size()),
      [&](const save_result& x) {
        promise([&](promises& to) {
          for (const auto& [id, text] : sent_)
            if (id == x.record.state.str())
              to.records[{x.record.session.str(), x.record.sequence}] = text;
        });
      },
      [&](const caf::error& x) { errors_.insert(code_of(x)); });
    sent_.clear();
  }

  template <class Verb>
  void look_at(const Verb& x) {
    if (const auto found = get(x))
      damages_.insert(damages_.end(), found->damages.begin(),
                      found->damages.end());
  }

  file_store store_;
  std::vector<std::pair<std::string, std::string>> sent_;
  std::set<errc> errors_;
  std::vector<damage> damages_;

  mutable std::mutex mutex_;
  promises promised_;
};

/// Runs a program without faults and returns its promises.
/// @param killed receives the file as a kill at the end would leave it.
inline promises promises_of_a_run(const std::filesystem::path& file,
                                  const std::filesystem::path& killed = {}) {
  program x{file};
  x.run();
  EXPECT_TRUE(x.errors().empty());
  if (!killed.empty())
    sqlite_files::copy_store(file, killed);
  return x.promised();
}

} // namespace tertulia::test::sqlite_fault_tests
