// SPDX-License-Identifier: BSD-3-Clause

// Measures a turn that ends with a snapshot on disk: its duration, whether it
// depends on the length of the conversation, and the number of such turns per
// second with 64 conversations at once. Also measures the size of the file, and
// the first page of a list of 100 000 sessions. Each turn adds two messages of
// 200 bytes. Baseline: a transaction of SQLite itself with one row of 400
// bytes, equally durable; in the row `_growth` the same turn after ten
// messages; for the file the bytes of its messages; for the list a store with
// 100 sessions.

#include <tertulia/sqlite_store.hpp>

#include <filesystem>
#include <memory>
#include <stdexcept>

#include "conversation.hpp"
#include "row.hpp"
#include "store_access.hpp"
#include <sqlite3.h>

namespace tertulia::bench {

namespace {

/// SQLite without a store around it.
class bare_sqlite {
public:
  explicit bare_sqlite(const std::filesystem::path& file) {
    sqlite3* db = nullptr;
    const auto result = sqlite3_open(file.c_str(), &db);
    db_.reset(db);
    check(result);
    run("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
        "CREATE TABLE rows (key INTEGER PRIMARY KEY, text TEXT)");
  }

  /// @returns the duration of one transaction in microseconds.
  double time_each(std::size_t transactions) {
    return time_calls(transactions, [this] {
      run("INSERT INTO rows (text) VALUES (hex(zeroblob(200)))");
    });
  }

private:
  struct close {
    void operator()(sqlite3* x) const noexcept {
      sqlite3_close(x);
    }
  };

  void run(const char* sql) {
    check(sqlite3_exec(db_.get(), sql, nullptr, nullptr, nullptr));
  }

  void check(int result) {
    if (result != SQLITE_OK)
      throw std::runtime_error{sqlite3_errmsg(db_.get())};
  }

  std::unique_ptr<sqlite3, close> db_;
};

/// A session flow with a file as its store.
class store_question : public question {
public:
  double baseline(std::size_t operations) override {
    return bare_.time_each(operations);
  }

protected:
  /// Opens conversations with the given length of history, all stored in the
  /// file.
  std::vector<client_actor> clients(std::size_t count, std::size_t messages) {
    std::vector<client_actor> result;
    for (std::size_t i = 0; i < count; ++i)
      result.push_back(spawn_client<turn_client>(
        stage_, [flow = flow_, state = history(messages)](chunk_sink client) {
          return flow.opening_for(std::move(client), ai::with_state{state});
        }));
    time_each(stage_, result, 0);     // opens
    time_each(stage_, result, count); // writes the history
    return result;
  }

  stage stage_;
  caf::scoped_actor self_{stage_.system};
  scratch folder_;
  std::filesystem::path file_ = folder_ / "sessions.db";
  bare_sqlite bare_{folder_ / "bare.db"};
  managed_store store_ = spawn_sqlite_store(stage_.system, file_);
  ai::session_flow<nothing, nothing> flow_
    = ai::define_session_flow(stage_.rt, "chat", chat_flow,
                              with_snapshot_store(store_),
                              with_client_states{});
};

/// Takes turns on conversations that are new in each sample, because they grow.
template <std::size_t Clients, std::size_t Messages>
class turns final : public store_question {
public:
  double ours(std::size_t operations) override {
    last_ = time_each(stage_, clients(Clients, Messages), operations);
    return last_;
  }

  std::vector<fact> facts() const override {
    return {{"turns", "1/s", 1e6 / last_}};
  }

private:
  double last_ = 0;
};

class growth final : public store_question {
public:
  double ours(std::size_t operations) override {
    return time_each(stage_, clients(1, 10'000), operations);
  }

  double baseline(std::size_t operations) override {
    return time_each(stage_, clients(1, 10), operations);
  }
};

/// Lists the most recently changed sessions.
class listing final : public store_question {
public:
  listing() {
    fill(store_, 100'000);
    fill(few_, 100);
  }

  double ours(std::size_t operations) override {
    return time_pages(store_, operations);
  }

  double baseline(std::size_t operations) override {
    return time_pages(few_, operations);
  }

private:
  /// Stores the given number of sessions, each with two messages.
  void fill(const managed_store& store, std::size_t sessions) {
    const auto content = ai::to_state(history(2));
    ask_all<session_info>(self_, store, sessions, [&](std::size_t i) {
      const session_id name{"session-" + std::to_string(i)};
      return save_session_request{{"/session-flow/chat", name}, content, 1};
    });
  }

  double time_pages(const managed_store& store, std::size_t operations) {
    return time_calls(operations, [&] {
      if (ask<session_page>(self_, store, list_sessions_request{})
            .sessions.size()
          != 100)
        throw std::runtime_error{"sessions are missing"};
    });
  }

  managed_store few_ = spawn_sqlite_store(stage_.system, folder_ / "few.db");
};

/// Measures the file of one conversation from its first turn on.
class file_size final : public store_question {
public:
  double ours(std::size_t operations) override {
    const auto before = size();
    time_each(stage_, clients(1, 0), operations - 1); // one writes the history
    return size() - before;
  }

  double baseline(std::size_t operations) override {
    const auto text = to_json_text(history(1).messages.back());
    return static_cast<double>(2 * operations * text.size());
  }

private:
  /// Returns the size of the file after a checkpoint of the write-ahead log.
  double size() {
    sqlite3* db = nullptr;
    sqlite3_open(file_.c_str(), &db);
    const auto result = sqlite3_exec(db,
                                     "PRAGMA busy_timeout = 5000;"
                                     "PRAGMA wal_checkpoint(TRUNCATE)",
                                     nullptr, nullptr, nullptr);
    sqlite3_close(db);
    if (result != SQLITE_OK)
      throw std::runtime_error{sqlite3_errstr(result)};
    return static_cast<double>(std::filesystem::file_size(file_));
  }
};

template <std::size_t Clients, std::size_t Messages>
enrol durable_turn_row(std::string name, double ratio, std::size_t operations) {
  return enrol{{.name = std::move(name),
                .promise = target::at_most_times_baseline(ratio),
                .operations = operations,
                .smoke_operations = Clients,
                .samples = 11,
                .make = make_question<turns<Clients, Messages>>}};
}

const enrol rows_of_sqlite[] = {
  durable_turn_row<1, 10>("turn_durable_10", 1.5, 200),
  durable_turn_row<1, 100>("turn_durable_100", 1.5, 200),
  durable_turn_row<1, 1'000>("turn_durable_1000", 1.5, 200),
  durable_turn_row<1, 10'000>("turn_durable_10000", 1.5, 200),
  durable_turn_row<64, 10>("durable_turns_64", 0.6, 6'400),
  enrol{{.name = "turn_durable_growth",
         .promise = target::at_most_times_baseline(1.3),
         .operations = 200,
         .smoke_operations = 2,
         .make = make_question<growth>}},
  enrol{{.name = "list_sqlite_100000",
         .promise = target::at_most(10'000),
         .operations = 20,
         .smoke_operations = 1,
         .make = make_question<listing>}},
  enrol{{.name = "file_sqlite_10000",
         .unit = "bytes",
         .promise = target::at_most_times_baseline(3),
         .operations = 10'000,
         .smoke_operations = 10,
         .samples = 2,
         .make = make_question<file_size>}},
};

} // namespace

} // namespace tertulia::bench
