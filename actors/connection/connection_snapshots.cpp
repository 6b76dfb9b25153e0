// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/detail/environment.hpp>
#include <tertulia/detail/session_actor.hpp>
#include <tertulia/status.hpp>

#include <memory>
#include <utility>

#include "connection_state.hpp"

// Snapshots of a conversation: the requests of its body and of the flows that
// the body has called, and the notices.

namespace tertulia::detail {

const responder_actor& connection_state::responder() {
  if (!responder_) {
    responder_ = spawn_responder(
      *self_, std::static_pointer_cast<const conversation_action>(action_),
      session_);
    self_->monitor(responder_);
  }
  return responder_;
}

snapshot_requests& connection_state::snapshots() {
  if (!snapshots_)
    snapshots_ = std::make_unique<snapshot_requests>(*this);
  return *snapshots_;
}

void connection_state::request_snapshot(snapshot_wait& x) {
  if (action_->conversation() != nullptr)
    return snapshots().add(x);
  // A flow within a conversation: the client may take as long as it likes to
  // grant credit, so there is no time-out.
  x.number = register_wait(x);
  const auto finish = [this, id = x.number](auto take) {
    if (auto* waiting = static_cast<snapshot_wait*>(take_wait(id)))
      take(*waiting);
    drain();
  };
  if (link().owner.node() != self_->node())
    watch_peer(x.number,
               caf::actor_cast<caf::actor_control_block*>(link().owner));
  self_->request(link().owner, caf::infinite, iteration_end{x.number})
    .then(
      [finish](snapshot_outcome& outcome) {
        finish([&](snapshot_wait& w) { w.succeed(std::move(outcome)); });
      },
      [finish](caf::error& reason) {
        finish([&](snapshot_wait& w) { w.fail(std::move(reason)); });
      });
}

void connection_state::withdraw(snapshot_wait& x) {
  if (snapshots_)
    return snapshots_->withdraw(x);
  if (take_wait(x.number) != nullptr)
    self_->send(link().owner, cancel_atom_v, x.number);
}

caf::result<snapshot_outcome>
connection_state::make_nested_snapshot(iteration_end x) {
  // A copy: the promise takes the sender out of the message.
  auto sender = self_->current_sender();
  if (!sender || action_->conversation() == nullptr)
    return fail(errc::invalid_argument, "there is no conversation here");
  auto answer = self_->make_response_promise<snapshot_outcome>();
  snapshots().add(std::move(sender), x.number, answer);
  return answer;
}

snapshot_trigger connection_state::trigger_of(snapshot_event event) const {
  snapshot_trigger result{event, out.turn()};
  result.inputs = first_inputs_ + in.taken_count();
  if (!names_)
    return result;
  const auto begin
    = in.taken_count() > ended_inputs_ ? ended_inputs_ : names_->last_begin;
  for (const auto& x : names_->here)
    if (x.input >= begin && x.input < in.taken_count())
      result.turn_name = x.name;
  return result;
}

void connection_state::note_stored(const snapshot_outcome& x) {
  stored_inputs_ = x.stored_inputs;
  if (x.id && run_ && run_->record)
    run_->record->set_snapshot(x.id);
}

void connection_state::add_chunk(payload x) {
  flush(); // chunks sent earlier arrive before
  out.push_batch(std::move(x));
}

} // namespace tertulia::detail
