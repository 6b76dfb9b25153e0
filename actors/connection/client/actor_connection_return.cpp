// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/detail/action.hpp>
#include <tertulia/detail/actor_connection.hpp>
#include <tertulia/detail/client_verbs.hpp>
#include <tertulia/detail/decline.hpp>
#include <tertulia/detail/send_here.hpp>

#include <caf/actor_cast.hpp>
#include <caf/behavior.hpp>

#include <type_traits>
#include <utility>
#include <vector>

// Actor clients that come back to a kept run of another node.

namespace tertulia::detail {

bool actor_connection::begin_to_return(const caf::error& reason) {
  if (!path_ || path_->is_active() || !end_->can_return()
      || !return_path::may_pass(reason))
    return false;
  path_->begin();
  static_cast<void>(path_->question(*end_)); // drops what still arrives
  look_for_desk(reason);
  return true;
}

template <class Answer, class OnAnswer, class OnError>
void actor_connection::ask_again(const caf::actor& who, caf::message question,
                                 OnAnswer on_answer, OnError on_error) {
  const auto is_current = [this, number = number_, attempt = path_->attempt()] {
    return number == number_ && path_ && path_->attempt() == attempt;
  };
  const auto drop = [this, number = number_](const auto& x) {
    if constexpr (std::is_same_v<std::decay_t<decltype(x)>, open_result>)
      decline(x, number == number_ && path_ && path_->is_active());
  };
  const auto id = self_->new_request_id(caf::message_priority::normal);
  self_->add_multiplexed_response_handler(
    id.response_id(), caf::behavior{
                        [is_current, on_answer, drop](const Answer& x) {
                          if (is_current())
                            on_answer(x);
                          else
                            drop(x);
                        },
                        [is_current, on_error](caf::error& reason) {
                          if (is_current())
                            on_error(std::move(reason));
                        },
                      });
  caf::actor_cast<caf::strong_actor_ptr>(who)->enqueue(
    self_->ctrl(), id, std::move(question), nullptr);
}

void actor_connection::look_for_desk(const caf::error& reason) {
  // The guide answers each request.
  ask_again<caf::actor>(
    path_->guide(), caf::make_message(caf::connect_atom_v, reason),
    [this](const caf::actor& found) {
      path_->found(found);
      ask_desk();
    },
    [this](caf::error failure) { lose(std::move(failure)); });
}

void actor_connection::ask_desk() {
  auto question = path_->question(*end_);
  if (!question) // it has ended meanwhile
    return path_->end();
  question->client
    = caf::actor_cast<chunk_sink>(caf::strong_actor_ptr{self_->ctrl()});
  question->init = question->init.sealed();
  // The first of these answers counts.
  const auto fail_once
    = [this](const caf::error& failure) { fail_to_return(failure); };
  ask_again<open_result>(
    caf::actor_cast<caf::actor>(path_->desk()),
    caf::make_message(std::move(*question)),
    [this](const open_result& x) { on_returned(x); }, fail_once);
  ask_again<caf::ok_atom>(
    path_->guide(), caf::make_message(caf::monitor_atom_v), [](caf::ok_atom) {},
    fail_once);
}

void actor_connection::on_returned(const open_result& x) {
  const auto is_reopened = path_->reopens();
  path_->end();
  peer_ = x.connection;
  watch(peer_);
  auto inputs = is_reopened ? end_->on_reopened(x) : end_->on_returned(x);
  if (end_->ended()) {
    decline(x);
    peer_has_ended_ = true;
    return proceed();
  }
  if (is_reopened)
    greet(peer_, *end_);
  send_again(std::move(inputs));
  if (end_->cancelled())
    tell(peer_, *end_, cancel_atom_v);
  proceed();
}

void actor_connection::fail_to_return(const caf::error& reason) {
  switch (path_->after(reason, *end_)) {
    case return_path::step::asks_again: return ask_desk();
    case return_path::step::looks_on: return look_for_desk(reason);
    default: return lose(reason);
  }
}

void actor_connection::lose(caf::error reason) {
  peer_has_ended_ = true;
  if (path_)
    path_->end();
  end_->on_lost(std::move(reason));
  proceed();
}

void actor_connection::send_again(std::vector<turn_input> inputs) {
  for (auto& again : inputs)
    send_here(peer_, std::move(again));
  if (end_->closed() && !end_->has_unsent())
    tell(peer_, *end_, caf::close_atom_v);
}

} // namespace tertulia::detail
