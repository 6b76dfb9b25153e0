// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/config.hpp>
#include <tertulia/protocol.hpp>
#include <tertulia/status.hpp>
#include <tertulia/store.hpp>

#include <caf/actor_system.hpp>
#include <caf/scoped_actor.hpp>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <utility>
#include <vector>

namespace tertulia::tool {

/// What becomes of a store that is not there.
enum class missing_store { is_refused, is_made };

/// The file of a store while this process has it, and its store, whose answers
/// a thread waits for.
///
/// @threads one at a time.
class store_file {
public:
  /// Opens the file.
  /// @param   patience how long to wait for another process that has it.
  /// @errors  throws a failure, for people.
  store_file(const std::filesystem::path& file, missing_store missing,
             caf::timespan patience);

  store_file(const store_file&) = delete;
  store_file& operator=(const store_file&) = delete;

  /// Closes the file.
  ~store_file();

  /// @errors throws what the store says.
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

  /// Calls the function with each session that a question fits, page by page.
  /// @param   fn returns whether to go on.
  /// @returns what was left out because it is damaged.
  std::vector<damage>
  each_session(list_sessions x,
               const std::function<bool(const session_page&)>& fn);

  /// Calls the function with each record of a session, orphans included.
  /// @param   fn returns whether to go on.
  /// @returns what was left out because it is damaged.
  std::vector<damage>
  each_record(const session_ref& of,
              const std::function<bool(const snapshot_record&)>& fn);

  [[nodiscard]] caf::actor_system& system() noexcept {
    return system_;
  }

  [[nodiscard]] const std::filesystem::path& file() const noexcept {
    return file_;
  }

  [[nodiscard]] const managed_store& store() const noexcept {
    return store_;
  }

  /// Longest wait for one answer. It is long, because somebody watches who can
  /// interrupt.
  static constexpr caf::timespan patience = std::chrono::hours{24};

private:
  std::filesystem::path file_;
  config cfg_;
  caf::actor_system system_;
  caf::scoped_actor self_;
  managed_store store_;
};

/// Names the first that is damaged, and how many there are.
[[nodiscard]] std::string summary_of(const std::vector<damage>& damages);

/// Throws a failure that names what is damaged, if anything is: once all else
/// has been shown.
void expect_none(const std::vector<damage>& damages);

} // namespace tertulia::tool
