// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/sqlite_store.hpp>
#include <tertulia/status.hpp>
#include <tertulia/store_actor.hpp>

#include <caf/actor_system.hpp>

#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <thread>

#include "file_hold.hpp"
#include "size_limit.hpp"
#include "sqlite_store_actor.hpp"
#include "sqlite_tables.hpp"
#include <fmt/format.h>

namespace tertulia {

namespace {

void check(const sqlite_options& x) {
  if (x.max_batch == 0)
    throw status_error{errc::invalid_argument, "$.maxBatch: must be 1 or more"};
  if (x.patience.count() < 0)
    throw status_error{errc::invalid_argument,
                       "$.patience: must not be negative"};
}

/// Throws if a thread cannot be started. If CAF fails to start a thread for an
/// actor, the actor system never ends.
void expect_thread() {
  try {
    std::thread{[] {}}.join();
  } catch (const std::system_error& x) {
    throw status_error{errc::resource_exhausted,
                       fmt::format("cannot start a thread for a store: {}",
                                   x.what())};
  }
}

/// Returns a file name that does not depend on the working directory of the
/// process, and that SQLite interprets only as a file name.
std::string full_name_of(const std::filesystem::path& file) {
  if (file.empty() || file.native().find('\0') != std::string::npos)
    throw status_error{errc::invalid_argument,
                       "the file of a store needs a name"};
  std::error_code error;
  auto result = std::filesystem::absolute(file, error);
  if (error)
    reject_file(file.string(), error.value());
  if (auto path = std::filesystem::weakly_canonical(result, error); !error)
    result = std::move(path);
  return result.string();
}

} // namespace

managed_store spawn_sqlite_store_actor(caf::actor_system& system,
                                       const std::string& file,
                                       const sqlite_options& options) {
  check(options);
  expect_thread();
  const size_limit_is_an_error guard;
  store_actor_options actor;
  actor.max_batch = options.max_batch;
  actor.blocks = true;
  return spawn_store_actor(
    system, std::make_shared<sqlite_tables>(file, options), actor);
}

store_factory stores_in_file(const std::filesystem::path& file,
                             const sqlite_options& options) {
  return [name = full_name_of(file), options](caf::actor_system& system) {
    return spawn_sqlite_store_actor(system, name, options);
  };
}

managed_store spawn_sqlite_store(caf::actor_system& system,
                                 std::filesystem::path file,
                                 sqlite_options options) {
  return supervise_store(system, stores_in_file(file, options),
                         options.restarts);
}

} // namespace tertulia
