// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/supervise.hpp>

#include <caf/actor_clock.hpp>
#include <caf/error.hpp>
#include <caf/optional.hpp>
#include <caf/scheduled_actor.hpp>
#include <caf/system_messages.hpp>

#include <deque>
#include <string>
#include <utility>

namespace tertulia {

/// Part of a supervisor that owns the supervised actor: starts it again after
/// its death, and ends it before the supervisor.
///
/// The supervisor calls `restart` for each `tick_atom` that it has sent itself.
///
/// @threads only on the actor of the supervisor.
class supervision {
public:
  /// Throws `invalid_argument` for inconsistent options.
  static void check(const restart_options& x);

  /// @param noun of the actor, for error messages.
  supervision(caf::scheduled_actor* self, const char* noun,
              detail::actor_factory factory, restart_options options)
    : self_(self), noun_(noun), factory_(std::move(factory)),
      options_(options) {}

  supervision(const supervision&) = delete;
  supervision& operator=(const supervision&) = delete;

  /// Takes over the first actor, and handles exit messages from now on.
  void start(caf::strong_actor_ptr first);

  /// Returns the supervised actor; null while it is down or about to end.
  [[nodiscard]] caf::strong_actor_ptr current() const {
    return stopping_ ? nullptr : current_;
  }

  /// Returns why there is no current actor.
  [[nodiscard]] caf::error down_error() const;

  /// Handles a down message.
  /// @returns false if it is not about the supervised actor.
  bool on_down(const caf::down_msg& x);

  void restart();

private:
  using time_point = caf::actor_clock::time_point;

  void adopt(caf::strong_actor_ptr x);
  void plan_restart(const std::string& reason);
  [[nodiscard]] caf::timespan pause_at(time_point now) const;

  caf::scheduled_actor* self_;
  const char* noun_;
  detail::actor_factory factory_;
  restart_options options_;
  caf::strong_actor_ptr current_;
  /// Reason why the actor is down; used only while it is.
  std::string down_reason_;
  /// Exit reason for the time when the actor has ended; empty unless stopping.
  caf::optional<caf::error> stopping_;
  /// Times of the restarts within the last period, oldest first.
  std::deque<time_point> restarts_;
};

} // namespace tertulia
