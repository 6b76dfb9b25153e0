// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/bidi_action.hpp>
#include <tertulia/connection.hpp>

#include <caf/actor_system.hpp>
#include <caf/timespan.hpp>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace tertulia {

/// The runtime of another process, as its clients see it.
///
/// ```
/// tertulia::remote_runtime there{system, "127.0.0.1", port};
/// auto echo = there.action<tertulia::nothing, std::string, std::string,
///                          std::string>("/bidi-flow/echo");
/// auto talk = echo.stream_bidi();
/// ```
///
/// If the other process dies, its connections end with `unavailable`; if this
/// one does, they are cancelled there.
///
/// @threads  all members, on threads that may block.
/// @lifetime within that of its actor system.
/// @design   README §5.7 "Nodes".
class remote_runtime {
public:
  /// Connects to a runtime that was published there.
  /// @param within longest wait for the connection, and for each answer later.
  /// @errors `failed_precondition` if the actor system has no network module
  ///         (see `add_network_to`); `unavailable` if nobody answers there or
  ///         somebody else; `deadline_exceeded`.
  remote_runtime(caf::actor_system& system, const std::string& host,
                 std::uint16_t port,
                 caf::timespan within = std::chrono::seconds{10});

  /// Describes everything that can be opened there, sorted by key.
  /// @errors `unavailable`, `deadline_exceeded`.
  [[nodiscard]] std::vector<descriptor> actions() const;

  /// Returns a handle on an action there. The types are taken on trust: what
  /// does not fit is refused with `invalid_argument` when it is sent or read.
  /// @errors `not_found`, `unavailable`, `deadline_exceeded`.
  template <class Init, class In, class Out, class Stream>
  [[nodiscard]] bidi_action<Init, In, Out, Stream>
  action(const std::string& key) const {
    return bidi_action<Init, In, Out, Stream>{find(key)};
  }

  /// The actor that opens connections there: for clients that are actors.
  [[nodiscard]] const front_desk_actor& front_desk() const noexcept {
    return desk_;
  }

private:
  [[nodiscard]] detail::action_ref find(const std::string& key) const;

  caf::actor_system& system_;
  caf::timespan within_;
  front_desk_actor desk_;
};

} // namespace tertulia
