// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/bidi_action.hpp>
#include <tertulia/config.hpp>
#include <tertulia/connection.hpp>
#include <tertulia/detail/remote_desk.hpp>
#include <tertulia/reconnect.hpp>

#include <caf/actor_system.hpp>
#include <caf/timespan.hpp>

#include <chrono>
#include <concepts>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace tertulia {

/// A client's view of the runtime of another process.
///
/// ```
/// tertulia::remote_runtime there{system, "127.0.0.1", port};
/// auto echo = there.action<tertulia::nothing, std::string, std::string,
///                          std::string>("/bidi-flow/echo");
/// auto talk = echo.stream_bidi();
/// ```
///
/// It uses the transport of the configuration, as `runtime::publish` does: both
/// sides must choose the same one.
///
/// If the other process dies, its connections end with `unavailable`; if this
/// process dies, they are cancelled there. Once the loss is detected, the next
/// call of this object, or of a handle that it has returned, reconnects: it
/// waits for the node as long as the `reconnect_policy` says. A `connection` to
/// a kept run comes back by itself when its link is lost: its calls wait
/// meanwhile, and nothing is lost or repeated (see `reconnect_policy`).
///
/// @threads  all members, on threads that may block.
/// @lifetime must not outlive its actor system.
/// @design   docs/engine.md#nodes.
class remote_runtime {
public:
  /// Connects to a published runtime.
  /// @param within longest wait for the connection, and for each answer later.
  /// @errors `failed_precondition` if the actor system has no network module
  ///         (see `add_network_to`), its certificates cannot be used, or the
  ///         messages were not added to it (see `add_messages_to`), and, here
  ///         and below, on a thread of CAF's scheduler, which must not block;
  ///         `permission_denied` if one side does not trust the certificate of
  ///         the other; `unavailable` if no runtime answers there;
  ///         `deadline_exceeded`.
  remote_runtime(caf::actor_system& system, const std::string& host,
                 std::uint16_t port,
                 caf::timespan within = std::chrono::seconds{10});

  /// Connects to a published runtime with several addresses. The first one that
  /// answers is used, also to come back after the link was lost.
  /// @param within longest wait for the connection, and for each answer later.
  /// @errors those for one address; `invalid_argument` if no address is given.
  remote_runtime(caf::actor_system& system, std::vector<endpoint> endpoints,
                 reconnect_policy policy = {},
                 caf::timespan within = std::chrono::seconds{10});

  /// Returns the descriptors of all actions there, sorted by key.
  /// @errors `deadline_exceeded`; the errors of the constructor.
  [[nodiscard]] std::vector<descriptor> actions() const;

  /// Returns a handle of an action there. The types are not checked here: a
  /// value that does not fit is refused with `invalid_argument` when it is sent
  /// or read.
  /// @errors `not_found`; the errors of `actions`.
  template <class Init, class In, class Out, class Stream>
  [[nodiscard]] bidi_action<Init, In, Out, Stream>
  action(const std::string& key) const {
    return detail::access::make<bidi_action<Init, In, Out, Stream>>(find(key));
  }

  /// Returns a handle of any kind of an action there, with the conveniences of
  /// that kind. The types are not checked here.
  ///
  /// ```
  /// using guide_type = ai::session_flow<nothing, nothing>;
  /// auto guide = there.action<guide_type>("/session-flow/guide");
  /// auto talk = guide.stream_bidi(with_session_id("ada"));
  /// ```
  ///
  /// @tparam Handle such as `bidi_flow<…>`, `ai::chat_agent<…>`,
  ///         `ai::session_flow<…>`, `ai::model`.
  /// @errors `not_found`; the errors of `actions`.
  template <class Handle>
  requires std::constructible_from<Handle, typename Handle::action_type>
  [[nodiscard]] Handle action(const std::string& key) const {
    return Handle{
      detail::access::make<typename Handle::action_type>(find(key))};
  }

  /// Returns the store of a conversation there, for tools that look into it.
  /// It dies with its process; call again then. There is one attempt to
  /// connect.
  /// @param key of the conversation; empty if all there have the same store.
  /// @errors `not_found`; `failed_precondition` if there are several stores;
  ///         the errors of `actions`. A store that is not a managed one answers
  ///         only the requests that sessions need.
  [[nodiscard]] managed_store store(const std::string& key = {}) const;

  /// Returns the actor that opens connections there, for clients that are
  /// actors. It dies with its process; call again then.
  /// @errors the errors of the constructor.
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
