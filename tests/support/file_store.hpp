// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/sqlite_store.hpp>
#include <tertulia/status.hpp>
#include <tertulia/store_contract.hpp>

#include <caf/all.hpp>

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <utility>

#include "stores/sqlite/sqlite_store_actor.hpp"
#include "support/raw_sqlite.hpp"
#include <gtest/gtest.h>

namespace tertulia::test {

/// Store in a file and a client of it, in an actor system of their own. The
/// file is closed when this object goes out of scope.
class file_store {
public:
  explicit file_store(std::filesystem::path file, sqlite_options options = {})
    : file_(std::move(file)),
      store_(spawn_sqlite_store_actor(system_, file_.string(), options)) {}

  file_store(const file_store&) = delete;
  file_store& operator=(const file_store&) = delete;

  ~file_store() {
    self_->send_exit(store_, caf::exit_reason::user_shutdown);
    self_->wait_for(store_);
  }

  /// Sends a request and returns the answer or the error.
  template <class Verb>
  caf::expected<detail::answer_to<Verb>> ask(const Verb& x) {
    caf::expected<detail::answer_to<Verb>> result{caf::sec::none};
    self_->request(store_, std::chrono::seconds{30}, x)
      .receive([&](detail::answer_to<Verb>& y) { result = std::move(y); },
               [&](caf::error& y) { result = std::move(y); });
    return result;
  }

  /// Sends a request and returns the code of its error; `ok` without one.
  template <class Verb>
  errc code(const Verb& x) {
    const auto result = ask(x);
    return result ? errc::ok : code_of(result.error());
  }

  /// Sends a request and returns the answer; an error fails the test.
  template <class Verb>
  detail::answer_to<Verb> get(const Verb& x) {
    auto result = ask(x);
    if (result)
      return std::move(*result);
    ADD_FAILURE() << to_status(result.error()).what();
    return {};
  }

  /// Sends a request and does not wait.
  template <class Verb>
  void send(const Verb& x) {
    self_->send(store_, x);
  }

  /// Sends requests that share a transaction: they wait in the mailbox as long
  /// as another program has the file.
  template <class... Verbs>
  void send_batch(const Verbs&... all) {
    batch([&] { (send(all), ...); });
  }

  /// Calls a function that sends such requests.
  template <class Fn>
  void batch(Fn send_all) {
    raw_sqlite busy{file_};
    busy.run("BEGIN IMMEDIATE");
    send_all();
    busy.run("ROLLBACK");
  }

  /// Receives the answers to requests that were sent.
  template <class... Handlers>
  void receive(int answers, const Handlers&... handlers) {
    for (int i = 0; i < answers; ++i)
      self_->receive(handlers...);
  }

  [[nodiscard]] std::size_t commits() const {
    return commits_in(file_.string() + "-wal");
  }

private:
  caf::actor_system_config cfg_;
  caf::actor_system system_{cfg_};
  caf::scoped_actor self_{system_};
  std::filesystem::path file_;
  managed_store store_;
};

} // namespace tertulia::test
