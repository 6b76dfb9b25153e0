// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/detail/action.hpp>
#include <tertulia/detail/actor_connection.hpp>
#include <tertulia/detail/client_verbs.hpp>
#include <tertulia/detail/send_here.hpp>
#include <tertulia/detail/timer.hpp>

#include <caf/attachable.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

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

actor_connection::~actor_connection() {
  detach();
}

// -- opening ------------------------------------------------------------------

void actor_connection::open(const front_desk_actor& desk, open_request request,
                            std::shared_ptr<const action> action,
                            std::shared_ptr<way_back> way) {
  if (end_)
    throw status_error{errc::failed_precondition,
                       "the client has a connection already"};
  end_.emplace(request.options.chunk_window, request.options.attach
                                               ? request.options.attach->role
                                               : client_role::talker);
  if (way) {
    path_ = std::make_unique<return_path>(std::move(way), request);
    end_->keep_stored_inputs();
  }
  window_ = std::max<std::size_t>(request.options.input_window, 1);
  const auto within = request.options.open_within;
  action_ = std::move(action);
  closing_ = false;
  paused_ = false;
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
        give_up(x);
    },
    [this, is_current](caf::error& reason) {
      if (!is_current())
        return;
      end_->on_lost(std::move(reason));
      finish();
    });
}

template <class OnOpened, class OnError>
void actor_connection::ask(const caf::actor& desk, open_request question,
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
  if (end_->ended()) // its completion has arrived before
    confirm_end(peer_, *end_);
  watch(peer_);
  greet(peer_, *end_);
  if (end_->send_error() && !end_->ended()) // cancelled meanwhile
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
      std::erase(abandoned_, who);
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

// -- messages -----------------------------------------------------------------

void actor_connection::handle(chunk_batch& x) {
  if (!is_from_peer())
    return;
  end_->on(std::move(x));
  proceed();
}

void actor_connection::handle(const input_credit& x) {
  if (!is_from_peer())
    return;
  end_->on(x);
  proceed();
}

void actor_connection::handle(turn_end& x) {
  if (!is_from_peer())
    return;
  end_->on(std::move(x));
  proceed();
}

caf::result<void> actor_connection::handle(completion& x) {
  if (!is_from_peer())
    return caf::unit;
  if (path_ && path_->is_active())
    return return_path::refusal();
  peer_has_ended_ = true;
  if (peer_ && !end_->ended())
    confirm_end(peer_, *end_);
  end_->on(std::move(x));
  proceed();
  return caf::unit;
}

caf::message_handler actor_connection::handlers() {
  return {
    [this](chunk_batch& x) { handle(x); },
    [this](const input_credit& x) { handle(x); },
    [this](turn_end& x) { handle(x); },
    [this](completion& x) { return handle(x); },
  };
}

/// Messages of a connection may arrive before the answer of the desk, which
/// says who it is.
bool actor_connection::is_from_peer() const {
  const auto& sender = self_->current_sender();
  if (!end_ || !sender)
    return false;
  if (peer_)
    return sender->id() == peer_.id() && sender->node() == peer_.node();
  const auto from = caf::actor_cast<caf::actor_addr>(sender);
  return std::find(abandoned_.begin(), abandoned_.end(), from)
         == abandoned_.end();
}

// -- what the client does -----------------------------------------------------

bool actor_connection::has_credit() const {
  return end_ && peer_ && !closing_ && waiting_.empty()
         && end_->has_input_credit() && !end_->send_error();
}

void actor_connection::send_input(payload value) {
  if (!end_)
    throw status_error{errc::failed_precondition,
                       "the client has no connection"};
  if (const auto reason = end_->send_error())
    raise(reason);
  if (closing_)
    throw status_error{errc::failed_precondition, "the input is closed"};
  if (waiting_.size() >= window_)
    throw status_error{errc::resource_exhausted,
                       std::to_string(waiting_.size())
                         + " inputs wait for credit already"};
  waiting_.push_back(action_ ? action_->check_input(std::move(value))
                             : value.sealed());
  send_waiting();
}

void actor_connection::resume() {
  paused_ = false;
  if (end_)
    proceed();
}

void actor_connection::close() {
  closing_ = end_.has_value();
  send_waiting();
}

void actor_connection::cancel() {
  if (!end_ || !end_->cancel())
    return;
  waiting_.clear();
  if (peer_)
    tell(peer_, *end_, cancel_atom_v);
}

cursor actor_connection::detach() {
  auto result = position();
  if (!end_)
    return result;
  waiting_.clear();
  const auto peer = std::exchange(peer_, {});
  if (peer) {
    leave(peer, *end_);
    if (!peer_has_ended_)
      abandon(peer);
  }
  position_ = result;
  end_.reset();
  action_.reset();
  path_.reset();
  ++number_;
  return result;
}

cursor actor_connection::position() const {
  // Unread chunks may be those of a run that was lost.
  return end_ ? cursor{end_->run(),
                       end_->position()
                         - std::min<std::uint64_t>(end_->position(), unread_)}
              : position_;
}

void actor_connection::send_waiting() {
  if (!peer_ || end_->ended())
    return;
  const auto before = sent_;
  for (; !waiting_.empty() && end_->has_input_credit(); waiting_.pop_front()) {
    end_->spend_input_credit();
    send_here(peer_, end_->message_for(std::move(waiting_.front())));
    ++sent_;
  }
  if (sent_ != before && waiting_.empty())
    on_inputs_sent();
  if (closing_ && waiting_.empty() && end_->close() && !end_->has_unsent())
    tell(peer_, *end_, caf::close_atom_v);
}

// -- what the client is told --------------------------------------------------

/// Tells the client what has arrived, and then that it may send.
void actor_connection::proceed() {
  if (!peer_)
    return;
  if (end_->has_unsent())
    send_again(end_->due_inputs());
  send_waiting();
  read_all();
  for (auto is_new = true; is_new && has_credit();) {
    const auto before = sent_;
    on_credit();
    is_new = sent_ != before;
  }
}

void actor_connection::read_all() {
  if (reading_) // called by one of the functions below
    return;
  struct flag {
    explicit flag(bool& x) : of(x) {
      of = true;
    }

    ~flag() {
      of = false;
    }

    bool& of;
  };
  const flag reading{reading_};
  // Detached meanwhile if the number has changed.
  for (const auto number = number_;
       end_ && number == number_ && !paused_ && read_next();) {
  }
}

/// Passes on what comes next.
/// @returns false if nothing has arrived.
bool actor_connection::read_next() {
  switch (end_->next()) {
    case client_end::arrival::none: grant(); return false;
    case client_end::arrival::chunks: {
      const auto number = number_;
      auto batch = end_->take_chunks();
      const auto size = batch.size;
      read(std::move(batch));
      if (number == number_)
        end_->count_consumed(size);
      return true;
    }
    case client_end::arrival::turn_end:
      end_->take_turn_end();
      last_snapshot_ = end_->last_snapshot();
      finish_reason_ = end_->finish_reason();
      on_turn_end();
      return true;
    default: finish(); return false;
  }
}

void actor_connection::grant() {
  if (const auto due = end_->credit_due(true); due > 0)
    send_here(peer_, chunk_credit{due, end_->reader()});
}

void actor_connection::confirm_end(const connection_actor& run,
                                   const client_end& end) {
  confirm(run, end);
}

void actor_connection::on_error(const status_error& x) {
  self_->quit(to_error(x));
}

void actor_connection::reject(caf::error reason) {
  end_->reject(std::move(reason));
}

void actor_connection::finish() {
  auto failure = end_->failure();
  auto output = end_->output();
  last_state_ = end_->last_state();
  unread_inputs_ = end_->unread_inputs() + waiting_.size();
  waiting_.clear();
  if (const auto peer = std::exchange(peer_, {}); peer && !peer_has_ended_) {
    abandon(peer);
    tell(peer, *end_, cancel_atom_v);
    confirm(peer, *end_); // nobody reads the end
  }
  position_ = {end_->run(), end_->position()};
  end_.reset();
  action_.reset();
  path_.reset();
  if (failure)
    on_error(to_status(failure));
  else
    read(std::move(output));
}

} // namespace tertulia::detail
