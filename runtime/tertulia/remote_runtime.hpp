// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/bidi_action.hpp>
#include <tertulia/config.hpp>
#include <tertulia/connection.hpp>
#include <tertulia/detail/remote_desk.hpp>

#include <caf/actor_system.hpp>
#include <caf/timespan.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
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
/// Uses the transport of the configuration, as `runtime::publish` does: both
/// sides have to choose the same.
///
/// If the other process dies, its connections end with `unavailable`; if this
/// one does, they are cancelled there. Once that was noticed, the next call
/// connects again: of this object, and of the handles that it has returned.
/// Nothing that was sent is sent again.
///
/// @threads  all members, on threads that may block.
/// @lifetime within that of its actor system.
/// @design   README §5.7 "Nodes".
class remote_runtime {
public:
  /// Connects to a runtime that was published there.
  /// @param within longest wait for the connection, and for each answer later.
  /// @errors `failed_precondition` if the actor system has no network module
  ///         (see `add_network_to`), its certificates cannot be used, or it
  ///         does not know the messages (see `add_messages_to`), and, here and
  ///         below, on a thread of CAF's scheduler, which must not block;
  ///         `permission_denied` if one side does not trust the certificate of
  ///         the other; `unavailable` if nobody answers there or somebody else;
  ///         `deadline_exceeded`.
  remote_runtime(caf::actor_system& system, const std::string& host,
                 std::uint16_t port,
                 caf::timespan within = std::chrono::seconds{10});

  /// Describes everything that can be opened there, sorted by key.
  /// @errors `deadline_exceeded`; what the constructor says.
  [[nodiscard]] std::vector<descriptor> actions() const;

  /// Returns a handle on an action there. The types are taken on trust: what
  /// does not fit is refused with `invalid_argument` when it is sent or read.
  /// @errors `not_found`; what `actions` says.
  template <class Init, class In, class Out, class Stream>
  [[nodiscard]] bidi_action<Init, In, Out, Stream>
  action(const std::string& key) const {
    return bidi_action<Init, In, Out, Stream>{find(key)};
  }

  /// Returns the actor that opens connections there: for clients that are
  /// actors. It dies with its process; ask for another one then.
  /// @errors what the constructor says.
  [[nodiscard]] front_desk_actor front_desk() const {
    return desk_->get();
  }

private:
  [[nodiscard]] detail::action_ref find(const std::string& key) const;

  caf::actor_system& system_;
  caf::timespan within_;
  std::shared_ptr<detail::remote_desk> desk_; // never null
};

} // namespace tertulia
