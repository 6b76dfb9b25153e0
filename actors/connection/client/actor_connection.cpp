// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/detail/action.hpp>
#include <tertulia/detail/actor_connection.hpp>
#include <tertulia/detail/client_verbs.hpp>
#include <tertulia/detail/send_here.hpp>

#include <caf/typed_event_based_actor.hpp>

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

namespace tertulia::detail {

namespace {

template <class Message>
std::uint32_t reader_of(const Message& x) {
  return x.reader;
}

std::uint32_t reader_of(const turn_end& x) {
  return x.last.reader;
}

/// Returns the credit that a message has cost; 1 for a batch without chunks,
/// which is an error, and for the last message.
std::uint64_t cost_of(const chunk_batch& x) {
  return std::max<std::uint64_t>(x.size, 1);
}

std::uint64_t cost_of(const turn_end& x) {
  return std::uint64_t{x.last.size} + 1;
}

std::uint64_t cost_of(const input_credit&) {
  return 0;
}

std::uint64_t cost_of(const completion&) {
  return 1;
}

} // namespace

actor_connection::~actor_connection() {
  detach();
}

// -- messages -----------------------------------------------------------------

void actor_connection::handle(chunk_batch& x) {
  arrive(x);
}

void actor_connection::handle(const input_credit& x) {
  auto copy = x;
  arrive(copy);
}

void actor_connection::handle(turn_end& x) {
  arrive(x);
}

caf::result<void> actor_connection::handle(completion& x) {
  if (path_ && path_->is_active() && is_from_peer())
    return return_path::refusal();
  arrive(x);
  return caf::unit;
}

template <class Message>
void actor_connection::arrive(Message& x) {
  if (!is_from_peer())
    return;
  if (peer_) {
    // Another reader may be another client of this actor.
    take(end_->is_for(reader_of(x)) ? std::move(x) : Message{x});
    proceed();
  } else if (path_) {
    keep_early(x);
  }
}

template <class Message>
void actor_connection::keep_early(const Message& x) {
  const auto from = caf::actor_cast<caf::actor_addr>(self_->current_sender());
  const auto reader = reader_of(x);
  auto found = std::find_if(early_.begin(), early_.end(), [&](const auto& y) {
    return y.from == from && y.reader == reader;
  });
  if (found == early_.end())
    found = early_.insert(found, {from, reader, 0, {}});
  auto& [sender, number, cost, content] = *found;
  cost += cost_of(x);
  if (cost > early_limit_)
    return content.clear();
  if constexpr (std::is_same_v<Message, input_credit>)
    if (auto* last = content.empty()
                       ? nullptr
                       : std::get_if<input_credit>(&content.back())) {
      last->inputs += x.inputs;
      return;
    }
  content.emplace_back(x);
}

void actor_connection::take(from_peer x) {
  if (const auto* end = std::get_if<completion>(&x);
      end != nullptr && end_->is_for(end->reader)) {
    peer_has_ended_ = true;
    if (!end_->ended())
      confirm_end(peer_, *end_);
  }
  std::visit([this](auto& message) { end_->on(std::move(message)); }, x);
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
  return !peer_
         || (sender->id() == peer_.id() && sender->node() == peer_.node());
}

// -- what the client does -----------------------------------------------------

bool actor_connection::has_credit() const {
  return end_ && peer_ && !closing_ && waiting_.empty()
         && end_->has_input_credit() && end_->can_send();
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
                       fmt::format("{} inputs wait for credit already",
                                   waiting_.size())};
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
  early_.clear();
  const auto peer = std::exchange(peer_, {});
  if (peer)
    leave(peer, *end_);
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
  const auto number = number_;
  const auto before = sent_;
  for (; !waiting_.empty() && end_->has_input_credit(); ++sent_) {
    end_->spend_input_credit();
    send_here(peer_, end_->message_for(waiting_.pop_front()));
  }
  if (sent_ != before && waiting_.empty())
    on_inputs_sent();
  if (number != number_)
    return; // detached meanwhile
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
  early_.clear();
  if (const auto peer = std::exchange(peer_, {}); peer && !peer_has_ended_) {
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
