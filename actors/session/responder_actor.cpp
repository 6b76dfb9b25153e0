// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/detail/host.hpp>
#include <tertulia/detail/session_actor.hpp>
#include <tertulia/detail/timer.hpp>
#include <tertulia/status.hpp>
#include <tertulia/turn.hpp>

#include <caf/stateful_actor.hpp>
#include <caf/typed_response_promise.hpp>

#include <utility>

namespace tertulia::detail {

namespace {

class responder_state {
public:
  static inline const char* name = "tertulia.responder";

  explicit responder_state(responder_actor::pointer self) : self_(self) {}

  responder_actor::behavior_type
  make_behavior(std::shared_ptr<const conversation_action> conversation,
                caf::strong_actor_ptr connection, chunk_sink client,
                session_actor session) {
    action_ = std::move(conversation);
    connection_ = std::move(connection);
    client_ = std::move(client);
    session_ = std::move(session);
    return {
      [this](chunk_batch& x) {
        x.first += notice_count_;
        next_chunk_ = x.first + x.size;
        send_to_client(std::move(x));
      },
      [this](input_credit x) { send_to_client(x); },
      [this](turn_end x) {
        ++turn_count_;
        send_to_client(x);
      },
      [this](completion& x) {
        x.chunks += notice_count_;
        send_to_client(std::move(x));
        self_->quit();
      },
      [this](snapshot_trigger x) { return trigger(x); },
    };
  }

private:
  using outcome_promise = caf::typed_response_promise<snapshot_outcome>;

  caf::result<snapshot_outcome> trigger(snapshot_trigger what) {
    auto promise = self_->make_response_promise<snapshot_outcome>();
    const auto& policy = action_->policy;
    // A trigger within a turn waits for credit, whether the body, a tool or a
    // nested flow sends it: an unbounded number of notices could otherwise
    // overdraw the window of a slow client. At the end of a turn the body has
    // waited already, and at the end of the invocation the client may have
    // stopped reading.
    if (what.event == snapshot_event::tool_iteration_end
        && policy.makes_snapshots() && policy.notice)
      self_->request(connection(), caf::infinite, claim_atom_v)
        .then([=, this] { request_snapshot(promise, what, true); },
              [=](caf::error& reason) mutable {
                promise.deliver(std::move(reason));
              });
    else
      request_snapshot(promise, what, false);
    return promise;
  }

  /// Asks the session for a snapshot, then sends the notice and the end of the
  /// turn to the client.
  /// @param has_credit whether a credit is reserved for the notice.
  void request_snapshot(outcome_promise promise, snapshot_trigger what,
                        bool has_credit) {
    // The body limits the time for the end of a turn or of the invocation.
    // Within a turn its wait has no time-out, because the client may be slow to
    // grant credit. There the time-out covers the store alone.
    const caf::duration within
      = what.event == snapshot_event::tool_iteration_end
          ? for_request(action_->policy.store_within)
          : caf::duration{caf::infinite};
    self_->request(session_, within, what)
      .then(
        [=, this](snapshot_outcome& x) mutable {
          const auto sends_notice = x.created && action_->policy.notice;
          if (has_credit && !sends_notice)
            self_->send(connection(), release_atom_v);
          if (!has_credit && sends_notice)
            self_->send(connection(), spend_atom_v, std::uint32_t{1});
          if (sends_notice)
            send_notice(x.id);
          if (what.event == snapshot_event::turn_end)
            send_to_client(turn_end{turn_count_++});
          promise.deliver(std::move(x));
        },
        [=, this](caf::error& reason) mutable {
          if (has_credit)
            self_->send(connection(), release_atom_v);
          // The snapshot may still be made, so the connection is cancelled.
          if (reason == caf::sec::request_timeout) {
            reason = fail(errc::deadline_exceeded,
                          "the session took too long for a snapshot");
            self_->send(connection(), cancel_atom_v, reason);
          }
          promise.deliver(std::move(reason));
        });
  }

  /// Sends the notice of a snapshot to the client.
  void send_notice(const snapshot_id& id) {
    auto items = action_->policy.notice(id);
    if (client_.node() != self_->node())
      items = items.sealed();
    ++notice_count_;
    send_to_client(chunk_batch{next_chunk_++, 1, std::move(items)});
  }

  [[nodiscard]] host_actor connection() const {
    return caf::actor_cast<host_actor>(connection_);
  }

  /// Sends a message to the client with the connection as its sender: a client
  /// of many connections tells them apart by the sender.
  template <class T>
  void send_to_client(T x) {
    client_->eq_impl(caf::make_message_id(), connection_, self_->context(),
                     std::move(x));
  }

  responder_actor::pointer self_;
  std::shared_ptr<const conversation_action> action_;
  caf::strong_actor_ptr connection_;
  chunk_sink client_;
  session_actor session_;
  std::uint64_t notice_count_ = 0; // sent so far
  std::uint64_t next_chunk_ = 0;   // number of the next chunk
  std::uint64_t turn_count_ = 0;
};

} // namespace

responder_actor
spawn_responder(caf::local_actor& parent,
                const std::shared_ptr<const conversation_action>& conversation,
                caf::strong_actor_ptr connection, chunk_sink client,
                session_actor session) {
  // Lazy: the actor is not scheduled before its first message arrives.
  return parent.spawn<caf::hidden + caf::lazy_init>(
    [](responder_actor::stateful_pointer<responder_state> self,
       std::shared_ptr<const conversation_action> conversation,
       caf::strong_actor_ptr connection, chunk_sink client,
       session_actor session) {
      return self->state.make_behavior(std::move(conversation),
                                       std::move(connection), std::move(client),
                                       std::move(session));
    },
    conversation, std::move(connection), std::move(client), std::move(session));
}

} // namespace tertulia::detail
