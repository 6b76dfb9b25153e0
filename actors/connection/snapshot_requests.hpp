// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/detail/snapshot_wait.hpp>

#include <caf/actor_control_block.hpp>
#include <caf/expected.hpp>
#include <caf/typed_response_promise.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace tertulia::detail {

class connection_state;

/// The snapshots that the body of a conversation and the flows that it has
/// called request: one after the other, each once there is credit for its
/// notice. At the end of the invocation the credit is needed last: a client
/// that has stopped reading does not have to grant it if there is no notice.
///
/// A request that is withdrawn leaves nothing behind. If the session has it
/// already, the client still gets the notice of its snapshot.
///
/// @threads only on the actor of its connection.
/// @design  docs/engine.md#turns.
class snapshot_requests final : private outbox::credit_waiter, private wait {
public:
  using promise = caf::typed_response_promise<snapshot_outcome>;

  explicit snapshot_requests(connection_state& owner) noexcept
    : owner_(owner) {}

  /// Adds the request of a wait of the body.
  void add(snapshot_wait& part);

  /// Adds the request of a flow that the body has called.
  /// @param number number of the request among those of `sender`.
  void add(caf::strong_actor_ptr sender, std::uint64_t number, promise answer);

  void withdraw(const snapshot_wait& part);

  /// Withdraws the requests of another actor.
  /// @param number the only one to withdraw; empty for all.
  void withdraw(const caf::actor_addr& sender,
                std::optional<std::uint64_t> number = std::nullopt);

private:
  struct request {
    snapshot_event event = snapshot_event::tool_iteration_end;
    snapshot_wait* part = nullptr; // of the body
    caf::strong_actor_ptr sender;  // of another actor; both null once withdrawn
    std::uint64_t number = 0;
    promise answer;
  };

  /// Condition that the first request waits for.
  enum class phase { idle, credit, session };

  template <class Predicate>
  void withdraw_if(Predicate matches);

  void start_first();
  void take_credit();
  void on_credit() override;
  void ask_session();
  void abort(const caf::error& reason) override;
  void on_outcome(caf::expected<snapshot_outcome> result);
  void finish_first(caf::expected<snapshot_outcome> result);
  void answer(request& x, const caf::expected<snapshot_outcome>& result);

  connection_state& owner_;
  std::vector<request> queue_; // one for each part that waits
  phase phase_ = phase::idle;
  bool has_credit_ = false;
  std::optional<snapshot_outcome> outcome_; // without credit for its notice
  std::uint64_t wait_id_ = 0;               // limits the time of the session
};

} // namespace tertulia::detail
