// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/config.hpp>
#include <tertulia/protocol.hpp>
#include <tertulia/remote_runtime.hpp>
#include <tertulia/status.hpp>
#include <tertulia/store.hpp>

#include <caf/actor_system.hpp>
#include <caf/scoped_actor.hpp>

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "program/address.hpp"

namespace tertulia::tool {

/// Treatment of a store that does not exist.
enum class missing_store { is_refused, is_made };

/// Store that a command works on: the file of a store, or the store of a
/// running program. Requests block the calling thread until the answer arrives.
///
/// @threads one at a time.
class store_access {
public:
  /// Opens the file.
  /// @param   patience longest wait for another process that has the file.
  /// @errors  throws a failure.
  store_access(const std::filesystem::path& file, missing_store missing,
               caf::timespan patience);

  /// Connects to a running program.
  /// @param   within longest wait for it.
  /// @errors  throws a failure.
  store_access(const program_address& where, caf::timespan within);

  store_access(const store_access&) = delete;
  store_access& operator=(const store_access&) = delete;

  /// Closes the file, or the connection.
  ~store_access();

  /// @errors throws errors of the store.
  template <class Answer, class Verb>
  Answer ask(const Verb& x) {
    Answer result;
    caf::error reason;
    self_->request(store_, patience, x)
      .receive([&](Answer& y) { result = std::move(y); },
               [&](caf::error& y) { reason = std::move(y); });
    if (reason)
      raise(reason);
    return result;
  }

  /// Calls the function with each session that matches a query.
  /// @param   fn returns whether to continue.
  /// @returns damage of the items that were left out.
  std::vector<damage>
  each_session(list_sessions_request x,
               const std::function<bool(const session_info&)>& fn);

  /// Calls the function with each session of an agent, or of all agents if the
  /// key is empty.
  std::vector<damage>
  each_session(const std::string& agent,
               const std::function<bool(const session_info&)>& fn);

  /// Calls the function with each record of a session, orphans included.
  /// @param   fn returns whether to continue.
  /// @returns damage of the items that were left out.
  std::vector<damage>
  each_record(const session_ref& session,
              const std::function<bool(const snapshot_record&)>& fn);

  [[nodiscard]] caf::actor_system& system() noexcept {
    return system_;
  }

  /// Returns the file; empty for a running program.
  [[nodiscard]] const std::filesystem::path& file() const noexcept {
    return file_;
  }

  /// Returns the file, or the address of the program.
  [[nodiscard]] const std::string& place() const noexcept {
    return place_;
  }

  /// Returns the running program; null for a file.
  [[nodiscard]] const remote_runtime* program() const noexcept {
    return program_ ? &*program_ : nullptr;
  }

  [[nodiscard]] const managed_store& store() const noexcept {
    return store_;
  }

  /// Longest wait for one answer. It is long, because the user can interrupt
  /// the program.
  static constexpr caf::timespan patience = std::chrono::hours{24};

private:
  std::filesystem::path file_;
  std::string place_;
  config cfg_;
  caf::actor_system system_;
  caf::scoped_actor self_;
  std::optional<remote_runtime> program_;
  managed_store store_;
};

/// Returns a text with the first damage and the number of all.
[[nodiscard]] std::string summary_of(const std::vector<damage>& damages);

/// Throws a failure that names the damage, if there is any. Called after all
/// intact content has been shown.
void expect_none(const std::vector<damage>& damages);

} // namespace tertulia::tool
