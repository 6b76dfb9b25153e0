// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/memory_store.hpp>
#include <tertulia/session_file.hpp>
#include <tertulia/sqlite_store.hpp>
#include <tertulia/store_contract.hpp>

#include <caf/all.hpp>

#include <chrono>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "support/refusal.hpp"
#include "support/scratch.hpp"

namespace tertulia::test {

struct memory_store_factory : contract_factory {
  managed_store open(caf::actor_system& system) override {
    return spawn_memory_store(system);
  }
};

/// Fixture with two stores: sessions are exported from one and imported into
/// the other.
struct session_files : store_test<memory_store_factory> {
  session_files() : from(spawn_memory_store(system)) {
    to = spawn_sqlite_store(system, folder / "sessions.db");
  }

  ~session_files() override {
    for (auto& x : {from, to}) {
      self->send_exit(x, caf::exit_reason::user_shutdown);
      self->wait_for(x);
    }
  }

  template <class Verb>
  detail::answer_to<Verb> ask(const managed_store& store, const Verb& x) {
    detail::answer_to<Verb> result;
    self->request(store, detail::contract_store::patience, x)
      .receive([&](detail::answer_to<Verb>& y) { result = std::move(y); },
               [](caf::error& y) { ADD_FAILURE() << to_status(y).what(); });
    return result;
  }

  std::uint64_t keep(const managed_store& store, const session_ref& session,
                     const state& content, std::uint64_t parent) {
    auto made = record(session, content, parent);
    made.created_at = caf::timestamp{std::chrono::nanoseconds{1'234'567'891}};
    made.turn_index = 3;
    return ask(store,
               save_snapshot_request{made, content, append_rule::anywhere})
      .record.sequence;
  }

  /// Creates a session that uses every feature of sessions.
  session_ref make_session(const managed_store& store) {
    const auto of = at("s");
    auto content = talk(3);
    const auto first = keep(store, of, content, 0);
    content = content.with_custom(payload::of(std::string{"ö\n\"x\""}));
    const auto second = keep(store, of, content, first);
    const auto other
      = keep(store, of, talk(3).with_custom(payload::of(1)), second);
    const auto again = keep(store, of, content, other);
    content = content.with_artifact({"file", {ai::part::text("content")}});
    content = longer(content, "more");
    const auto fifth = keep(store, of, content, again);
    keep(store, of, longer(talk(2), "another way"), first);
    keep(store, of, number(7), fifth);
    keep(store, of, longer(content, "the end"), fifth);
    // the record between two equal states is pruned
    for (const auto i : {first, second, again, fifth, fifth + 1, fifth + 2}) {
      label_snapshot_request mark{snapshot_ref{of, i}};
      mark.add = {"kept", std::to_string(i)};
      ask(store, mark);
    }
    ask(store, annotate_snapshot_request{snapshot_ref{of, second}, "a\nnote"});
    ask(store, prune_snapshots_request{});
    ask(store, restore_snapshot_request{snapshot_ref{of, fifth}});
    ask(store, save_session_request{of, longer(content, "draft"), 9});
    ask(store, title_session_request{of, "Tea \"x\""});
    return of;
  }

  static state longer(const state& x, const std::string& text) {
    return x.with_messages(x.messages().with(ai::user_text(text)));
  }

  std::string exported(const managed_store& store, const session_ref& session) {
    std::ostringstream file;
    export_session(system, store, session, file);
    return file.str();
  }

  session_info imported(const managed_store& store, const std::string& text,
                        const session_ref& as = {}) {
    std::istringstream file{text};
    return import_session(system, store, file, as);
  }

  /// Returns the error of an import, which must not change the store.
  status_error refusal(const std::string& text) {
    const auto before = ask(to, list_sessions_request{});
    auto result = test::error_of([&] { return imported(to, text); });
    EXPECT_EQ(ask(to, list_sessions_request{}), before);
    return result;
  }

  std::vector<stored_snapshot> all(const managed_store& store,
                                   const session_ref& session) {
    list_snapshots_request x{session};
    x.with_orphans = true;
    x.detail = detail_level::state;
    return ask(store, x).snapshots;
  }

  static std::vector<std::string> lines(const std::string& text) {
    std::vector<std::string> result;
    std::istringstream from{text};
    for (std::string line; std::getline(from, line);)
      result.push_back(line + '\n');
    return result;
  }

  static std::string join(const std::vector<std::string>& lines) {
    std::string result;
    for (const auto& x : lines)
      result += x;
    return result;
  }

  scratch folder;
  caf::actor_system_config cfg;
  caf::actor_system system{cfg};
  caf::scoped_actor self{system};
  managed_store from;
  managed_store to;
};

} // namespace tertulia::test
