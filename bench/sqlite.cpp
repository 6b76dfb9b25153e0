// SPDX-License-Identifier: BSD-3-Clause

// How long does a turn take that ends with a snapshot on disk, does it matter
// how long the conversation is, how many such turns are there in a second with
// 64 conversations at once, how long does it take to go on from a snapshot of
// 10 000 messages, and how large is the file? Each turn adds two messages of
// 200 bytes. Beside it: what SQLite itself takes for a transaction of one row
// of 400 bytes, just as durable; in the row `_growth` the same turn after ten
// messages, and for the file the bytes of its messages.

#include <tertulia/sqlite_store.hpp>

#include <caf/scoped_actor.hpp>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <stdexcept>

#include "conversation.hpp"
#include "row.hpp"
#include <sqlite3.h>

namespace tertulia::bench {

namespace {

/// A folder for files, which goes with all that is in it.
class scratch {
public:
  scratch() {
    auto name
      = (std::filesystem::temp_directory_path() / "tertulia-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr)
      throw std::runtime_error{name + ": cannot be made"};
    folder_ = name;
  }

  scratch(const scratch&) = delete;
  scratch& operator=(const scratch&) = delete;

  ~scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

  [[nodiscard]] std::filesystem::path operator/(const char* name) const {
    return folder_ / name;
  }

private:
  std::filesystem::path folder_;
};

/// SQLite without anything around it.
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

  /// @returns the microseconds that one transaction took.
  double time_each(std::size_t transactions) {
    const auto begin = std::chrono::steady_clock::now();
    for (std::size_t i = 0; i < transactions; ++i)
      run("INSERT INTO rows (text) VALUES (hex(zeroblob(200)))");
    const std::chrono::duration<double, std::micro> all
      = std::chrono::steady_clock::now() - begin;
    return all.count() / static_cast<double>(transactions);
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

/// A session flow on a file.
class on_disk : public question {
public:
  double baseline(std::size_t operations) override {
    return bare_.time_each(operations);
  }

protected:
  /// Makes conversations with so long a history, of which the file has it all.
  std::vector<client_actor> clients(std::size_t count, std::size_t messages) {
    std::vector<client_actor> result;
    for (std::size_t i = 0; i < count; ++i)
      result.push_back(spawn_client<turn_client>(
        at_, [flow = flow_, state = history(messages)](chunk_sink client) {
          return flow.opening_for(std::move(client), ai::with_state{state});
        }));
    time_each(at_, result, 0);     // opens
    time_each(at_, result, count); // writes the history
    return result;
  }

  stage at_;
  scratch folder_;
  std::filesystem::path file_ = folder_ / "sessions.db";
  bare_sqlite bare_{folder_ / "bare.db"};
  managed_store store_ = spawn_sqlite_store(at_.system, file_);
  ai::session_flow<nothing, nothing> flow_ = ai::define_session_flow(
    at_.rt, "chat", chat_flow, with_snapshot_store(store_));
};

/// Takes turns on conversations that are new in each sample, for they grow.
template <std::size_t Clients, std::size_t Messages>
class turns final : public on_disk {
public:
  double ours(std::size_t operations) override {
    last_ = time_each(at_, clients(Clients, Messages), operations);
    return last_;
  }

  std::vector<fact> facts() const override {
    return {{"turns", "1/s", 1e6 / last_}};
  }

private:
  double last_ = 0;
};

class growth final : public on_disk {
public:
  double ours(std::size_t operations) override {
    return time_each(at_, clients(1, 10'000), operations);
  }

  double baseline(std::size_t operations) override {
    return time_each(at_, clients(1, 10), operations);
  }
};

/// Reads what a session has, as one that goes on would.
class reading final : public on_disk {
public:
  reading() {
    const auto content = ai::to_state(history(10'000));
    const auto saved = ask<session_info>(save_session{which_, content, 0});
    if (saved.id != which_.id)
      throw std::runtime_error{"it was not saved"};
  }

  double ours(std::size_t operations) override {
    const auto begin = std::chrono::steady_clock::now();
    for (std::size_t i = 0; i < operations; ++i)
      if (ask<stored_session>(get_session{which_}).content.messages().size()
          != 10'000)
        throw std::runtime_error{"messages are missing"};
    const std::chrono::duration<double, std::micro> all
      = std::chrono::steady_clock::now() - begin;
    return all.count() / static_cast<double>(operations);
  }

private:
  template <class Answer, class Verb>
  Answer ask(const Verb& x) {
    Answer result;
    self_->request(store_, std::chrono::minutes{1}, x)
      .receive([&](Answer& y) { result = std::move(y); },
               [](caf::error& y) { raise(y); });
    return result;
  }

  session_ref which_{"/session-flow/chat", session_id{"long"}};
  caf::scoped_actor self_{at_.system};
};

/// One conversation from its first turn on.
class file_size final : public on_disk {
public:
  double ours(std::size_t operations) override {
    const auto before = size();
    time_each(at_, clients(1, 0), operations - 1); // one writes the history
    return size() - before;
  }

  double baseline(std::size_t operations) override {
    const auto text = to_json_text(history(1).messages.back());
    return static_cast<double>(2 * operations * text.size());
  }

private:
  /// The size once all is in the file itself.
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
enrol turn_row(std::string name, target promise, std::size_t operations) {
  return enrol{{.name = std::move(name),
                .unit = "us",
                .promise = promise,
                .operations = operations,
                .smoke_operations = Clients,
                .samples = 11,
                .make = make_question<turns<Clients, Messages>>}};
}

const enrol rows[] = {
  turn_row<1, 10>("sqlite_turn_10", {}, 200),
  turn_row<1, 10'000>("sqlite_turn_10000", {}, 200),
  turn_row<64, 10>("sqlite_turn_64", target::at_most(200), 6'400),
  enrol{{.name = "sqlite_turn_growth",
         .unit = "us",
         .promise = target::at_most_times_baseline(1.3),
         .operations = 200,
         .smoke_operations = 2,
         .make = make_question<growth>}},
  enrol{{.name = "sqlite_read_10000",
         .unit = "us",
         .promise = target::at_most(50'000),
         .operations = 5,
         .smoke_operations = 1,
         .samples = 11,
         .make = make_question<reading>}},
  enrol{{.name = "sqlite_file_size",
         .unit = "bytes",
         .promise = target::at_most_times_baseline(3),
         .operations = 10'000,
         .smoke_operations = 10,
         .samples = 2,
         .make = make_question<file_size>}},
};

} // namespace

} // namespace tertulia::bench
