// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/detail/client_end.hpp>
#include <tertulia/open.hpp>

#include <caf/actor.hpp>
#include <caf/actor_cast.hpp>
#include <caf/error.hpp>
#include <caf/send.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

namespace tertulia::detail {

/// Way of a client to the front desk of another node after its link was lost.
///
/// @threads all members.
class way_back {
public:
  virtual ~way_back() = default;

  /// Returns an actor that looks for the desk, for one client:
  ///
  /// - `connect_atom` and an error: answered with the desk. The first one at
  ///   once, a later one after a pause, because the attempt of the client has
  ///   failed. When the time for attempts is over, the answer is the error.
  /// - `monitor_atom`, when the client asks that desk: answered with
  ///   `unavailable` if the desk is lost, and with `deadline_exceeded` if it
  ///   takes too long. The client asks itself, because the answer must come
  ///   before the chunks that follow it.
  /// - `close_atom`: ends the actor.
  ///
  /// A request that another one follows is answered with `cancelled`.
  [[nodiscard]] virtual caf::actor spawn_guide() = 0;
};

/// State of a client of a kept run on another node, which comes back when its
/// link is lost, and opens its session again when its run is lost.
///
/// @threads only on the actor of its client.
/// @design  docs/runs.md#lost-links.
class return_path {
public:
  /// @param first the request with which the client has opened its connection.
  return_path(std::shared_ptr<way_back> way, const open_request& first)
    : way_(std::move(way)), key_(first.key), init_(first.init),
      options_(first.options), client_number_(first.client_number) {}

  return_path(const return_path&) = delete;
  return_path& operator=(const return_path&) = delete;

  ~return_path() {
    end();
  }

  /// Begins to look for the desk.
  void begin() {
    guide_ = way_->spawn_guide();
    reopens_ = false;
    ++attempt_;
  }

  /// Ends the search: the client is back, or has given up.
  void end() {
    ++attempt_;
    desk_ = nullptr;
    if (const auto guide = std::exchange(guide_, nullptr))
      caf::anon_send(guide, caf::close_atom_v);
  }

  /// Returns the desk that was found last.
  [[nodiscard]] const front_desk_actor& desk() const noexcept {
    return desk_;
  }

  void found(const caf::actor& desk) {
    desk_ = caf::actor_cast<front_desk_actor>(desk);
  }

  /// Returns whether the client looks for its desk.
  [[nodiscard]] bool is_active() const noexcept {
    return static_cast<bool>(guide_);
  }

  /// Returns the answer to the end of the run, if it comes while the client
  /// looks for its desk: the link may have lost what was sent before it.
  [[nodiscard]] static caf::error refusal() {
    return fail(errc::unavailable, "the client attaches again");
  }

  /// @pre `is_active()`
  [[nodiscard]] const caf::actor& guide() const noexcept {
    return guide_;
  }

  /// Returns the number of the attempt: the answers of earlier ones are late.
  [[nodiscard]] std::uint64_t attempt() const noexcept {
    return attempt_;
  }

  /// Returns whether the attempt opens the session, and not the run.
  [[nodiscard]] bool reopens() const noexcept {
    return reopens_;
  }

  /// Returns the request of the attempt, without its client; empty if the
  /// client cannot come back any more.
  [[nodiscard]] std::optional<open_request> question(client_end& of) const {
    if (reopens_ ? !of.can_reopen() : !of.can_return())
      return std::nullopt;
    auto result
      = reopens_ ? open_request{key_, init_, of.begin_to_reopen(options_), {}}
                 : open_request{key_, {}, of.begin_to_return(), {}};
    result.client_number = client_number_;
    return result;
  }

  /// Next step of a client whose attempt has failed.
  enum class step {
    asks_again, ///< Asks the desk for the session: the run is lost.
    looks_on,   ///< Asks the guide.
    gives_up,
  };

  [[nodiscard]] step after(const caf::error& reason, const client_end& of) {
    ++attempt_;
    if (!reopens_ && code_of(reason) == errc::not_found && of.can_reopen()) {
      reopens_ = true;
      return step::asks_again;
    }
    // Another node may have the run.
    return may_pass(reason, std::exchange(reopens_, false)) ? step::looks_on
                                                            : step::gives_up;
  }

  /// Returns whether the error is one of the link, which may come back, or one
  /// of a session whose last run is still ending.
  static bool may_pass(const caf::error& reason, bool reopens = false) {
    const auto code = code_of(reason);
    return code == errc::unavailable || code == errc::deadline_exceeded
           || (reopens && code == errc::failed_precondition);
  }

private:
  std::shared_ptr<way_back> way_;
  const std::string key_;
  const payload init_;
  const open_options options_;
  const std::uint64_t client_number_;
  caf::actor guide_; ///< null while the link is there
  front_desk_actor desk_;
  bool reopens_ = false;
  std::uint64_t attempt_ = 0;
};

} // namespace tertulia::detail
