// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/detail/action.hpp>
#include <tertulia/detail/actor_connection.hpp>
#include <tertulia/detail/client_verbs.hpp>
#include <tertulia/detail/decline.hpp>
#include <tertulia/detail/send_here.hpp>
#include <tertulia/detail/timer.hpp>

#include <caf/attachable.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

// Opening of a connection by an actor, up to its answer.

namespace tertulia::detail {

namespace {

/// Answers a request of an actor when another actor has ended: a monitor that
/// leaves the actor's handler of `down_msg` to the application.
class end_watch final : public caf::attachable {
public:
  end_watch(caf::actor_addr watcher, caf::message_id response)
    : watcher_(std::move(watcher)), response_(response) {}

  void actor_exited(const caf::error& reason,
                    caf::execution_unit* host) override {
    if (const auto to = caf::actor_cast<caf::strong_actor_ptr>(watcher_))
      to->enqueue(nullptr, response_, caf::make_message(reason), host);
  }

private:
  caf::actor_addr watcher_;
  caf::message_id response_;
};

} // namespace

void actor_connection::open(const front_desk_actor& desk,
                            open_request&& request,
                            std::shared_ptr<const action> action,
                            std::shared_ptr<way_back> way) {
  if (end_)
    throw status_error{errc::failed_precondition,
                       "the client has a connection already"};
  if (request.options.turn && request.inputs.size() > 1)
    throw status_error{errc::invalid_argument,
                       "$.inputs: a turn with a name begins with one input"};
  for (auto& input : request.inputs)
    input = action ? action->check_input(std::move(input)) : input.sealed();
  hold_inputs(request);
  request.client_number = new_client_number();
  end_.emplace(request);
  if (way) {
    path_ = std::make_unique<return_path>(std::move(way), request);
    end_->keep_stored_inputs();
  }
  window_ = std::max<std::size_t>(request.options.input_window, 1);
  early_limit_ = std::uint64_t{request.options.chunk_window} + 1; // and the end
  const auto within = request.options.open_within;
  action_ = std::move(action);
  paused_ = false;
  early_.clear();
  peer_has_ended_ = false;
  session_ = {};
  trace_id_ = {};
  last_snapshot_ = {};
  finish_reason_ = {};
  unread_inputs_ = 0;
  last_state_ = {};
  request.client
    = caf::actor_cast<chunk_sink>(caf::strong_actor_ptr{self_->ctrl()});
  const auto number = ++number_;
  const auto is_current
    = [this, number] { return number == number_ && end_ && !peer_; };
  ask(
    caf::actor_cast<caf::actor>(desk), std::move(request), within,
    [this, is_current](const open_result& x) {
      if (is_current())
        on_opened(x);
      else
        decline(x);
    },
    [this, is_current](caf::error& reason) {
      if (!is_current())
        return;
      end_->on_lost(std::move(reason));
      finish();
    });
}

void actor_connection::hold_inputs(open_request& x) {
  first_waiting_ = 0;
  closing_ = false;
  if (!x.options.attach)
    return;
  first_waiting_ = x.inputs.size();
  for (auto& input : std::exchange(x.inputs, {}))
    waiting_.push_back(std::move(input));
  closing_ = std::exchange(x.closes, false);
}

void actor_connection::drop_first_inputs() {
  // None is left after a cancel.
  for (auto n = std::min(first_waiting_, waiting_.size()); n > 0; --n)
    waiting_.pop_front();
}

template <class OnOpened, class OnError>
void actor_connection::ask(const caf::actor& desk, open_request&& question,
                           caf::timespan within, OnOpened on_opened,
                           OnError on_error) {
  const auto id = self_->new_request_id(caf::message_priority::normal);
  self_->add_multiplexed_response_handler(id.response_id(),
                                          caf::behavior{on_opened, on_error});
  // The time limit belongs to a question of its own: the answer to the other
  // one is needed even if it is late.
  if (within < caf::timespan::max()) {
    const auto limit = self_->new_request_id(caf::message_priority::normal);
    self_->add_multiplexed_response_handler(limit.response_id(),
                                            caf::behavior{on_error});
    self_->request_response_timeout(for_request(within), limit);
  }
  caf::actor_cast<caf::strong_actor_ptr>(desk)->enqueue(
    self_->ctrl(), id, caf::make_message(std::move(question)),
    execution_here());
}

void actor_connection::on_opened(const open_result& x) {
  peer_ = x.connection;
  session_ = x.session;
  trace_id_ = x.trace_id;
  last_snapshot_ = x.snapshot;
  end_->on(x);
  if (x.turn != turn_progress::not_begun)
    drop_first_inputs();
  for (auto& early : std::exchange(early_, {}))
    if (early.from == peer_.address())
      for (auto& message : early.content)
        take(std::move(message));
  watch(peer_);
  greet(peer_, *end_);
  if (end_->cancelled() && !end_->ended())
    tell(peer_, *end_, cancel_atom_v);
  on_open(x);
  proceed();
}

void actor_connection::watch(const connection_actor& peer) {
  // A client can attach to one run again and again.
  if (std::find(watched_.begin(), watched_.end(), peer.address())
      != watched_.end())
    return;
  watched_.push_back(peer.address());
  const auto id
    = self_->new_request_id(caf::message_priority::normal).response_id();
  self_->add_multiplexed_response_handler(
    id, caf::behavior{[this, who = peer.address()](const caf::error& reason) {
      std::erase(watched_, who);
      if (!end_ || peer_.address() != who)
        return;
      const auto loss = lost_connection(reason);
      if (!begin_to_return(loss))
        lose(loss);
    }});
  caf::actor_cast<caf::abstract_actor*>(peer)->attach(
    std::make_unique<end_watch>(self_->address(), id));
}

} // namespace tertulia::detail
