// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/sqlite_store.hpp>
#include <tertulia/store_contract.hpp>

#include <cstdint>
#include <filesystem>
#include <string>

#include "support/raw_sqlite.hpp"
#include "support/scratch.hpp"

namespace tertulia::test::sqlite_tests {

/// Factory of stores in a file of their own.
struct sqlite_store_factory : contract_factory {
  [[nodiscard]] bool is_durable() const override {
    return true;
  }

  managed_store open(caf::actor_system& system) override {
    return spawn_sqlite_store(system, file, options);
  }

  /// Flips a bit of a plain state: 1 becomes 3.
  bool corrupt(const state_id& id) override {
    raw_sqlite db{file};
    db.run("UPDATE blobs SET text = replace(text, '1', '3') WHERE key IN "
           + part_of("custom", id));
    return true;
  }

  bool lose(const state_id& id) override {
    raw_sqlite db{file};
    db.run("DELETE FROM blobs WHERE key IN " + part_of("custom", id));
    return true;
  }

  static std::string part_of(const std::string& part, const state_id& id) {
    const auto of = [&](const char* table) {
      return "SELECT " + part + " FROM " + table
             + " WHERE lower(hex(state)) = '" + id.str() + '\'';
    };
    return '(' + of("records") + " UNION " + of("sessions") + ')';
  }

  scratch folder;
  std::filesystem::path file = folder / "sessions.db";
  sqlite_options options;
};

/// Fixture of the store contract without its tests.
struct sqlite_store : store_test<sqlite_store_factory> {
  raw_sqlite raw() {
    return raw_sqlite{factory().file};
  }

  static state longer(const state& x, const std::string& text) {
    return x.with_messages(x.messages().with(ai::user_text(text)));
  }

  stored_snapshot load(std::uint64_t sequence) {
    return get(get_snapshot_request{snapshot_ref{at("s"), sequence}});
  }

  /// Checks that everything without a reference has been removed.
  void expect_nothing_is_left() {
    auto db = raw();
    for (const auto* table : {"records", "labels", "sessions", "blobs",
                              "messages", "branches", "shares"})
      EXPECT_EQ(db.count(table), 0) << table;
  }
};

} // namespace tertulia::test::sqlite_tests
