// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/detail/session_actor.hpp>
#include <tertulia/json.hpp>
#include <tertulia/status.hpp>

#include <caf/stateful_actor.hpp>

#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "session_state.hpp"

namespace tertulia::detail {

session_actor::behavior_type
session_state::run(std::shared_ptr<environment> env,
                   std::shared_ptr<const conversation_action> what,
                   session_opening opening, lease_holder owner) {
  env_ = std::move(env);
  what_ = std::move(what);
  opening_ = std::make_unique<session_opening>(std::move(opening));
  owner_ = std::move(owner);
  if (!owner_) {
    started_ = true;
    id_ = opening_->session;
    set_out();
    opening_.reset();
  }
  return {
    [this](caf::open_atom) { return start(); },
    [this](caf::get_atom) -> caf::result<session_view> {
      if (auto reason = objection_to_leaving())
        return reason;
      return view();
    },
    [this](session_edit& x) { return edit(x); },
    [this](snapshot_trigger x) { return trigger(x.event); },
    [this](caf::reset_atom) {
      if (!policy().store)
        content_ = good_;
      return view();
    },
    [this](list_atom) -> caf::result<session_summary> {
      if (auto reason = objection_to_leaving())
        return reason;
      return summary();
    },
    [this](done_atom) {
      self_->quit();
      return summary();
    },
  };
}

session_view session_state::view() const {
  session_view result{id_, content_, version_};
  result.turn = turn_;
  result.last_snapshot = last_.id;
  return result;
}

session_summary session_state::summary() const {
  session_summary result;
  result.last = view();
  result.snapshots = made_;
  return result;
}

caf::error session_state::objection_to_leaving() const {
  const auto& who = self_->current_sender();
  if (!who || who->node() == self_->node())
    return caf::none;
  try {
    static_cast<void>(content_.id());
    return caf::none;
  } catch (...) {
    return current_exception_to_error();
  }
}

// -- changes ------------------------------------------------------------------

caf::result<std::uint64_t> session_state::edit(session_edit& x) {
  if (!policy().saves_changes || !policy().store)
    return apply(x);
  auto promise = self_->make_response_promise<std::uint64_t>();
  in_turn(
    [this, promise, x = std::move(x)]() mutable { save_change(promise, x); });
  return promise;
}

caf::result<std::uint64_t> session_state::apply(session_edit& x) {
  try {
    content_ = changed(x);
    return ++version_;
  } catch (...) {
    return current_exception_to_error();
  }
}

void session_state::save_change(version_promise promise, session_edit& x) {
  state next;
  session_position where;
  try {
    next = changed(x);
    where = {turn_, next.id(), next.type()}; // throws for a state without JSON
  } catch (...) {
    promise.deliver(current_exception_to_error());
    return;
  }
  busy_ = true;
  // No time-out: the wait of the body limits the time, and the store may still
  // save the change after that.
  self_
    ->request(policy().store, caf::infinite,
              save_session{ref(), next, turn_, positions_})
    .then(
      [this, promise, next, where](const session_info&) mutable {
        stand_at(std::move(where));
        content_ = std::move(next);
        promise.deliver(++version_);
        go_on();
      },
      [this, promise, where](caf::error& reason) mutable {
        doubt(std::move(where), reason);
        promise.deliver(std::move(reason));
        go_on();
      });
}

state session_state::changed(session_edit& x) const {
  if (x.only_if != 0 && x.only_if != version_)
    throw status_error{errc::aborted, "the session has changed meanwhile"};
  auto take = [&]<class T>(std::type_identity<T>) {
    return std::move(x.value).template take<T>();
  };
  if (content_.form() == state_form::plain
      && x.what != session_verb::set_custom)
    throw status_error{errc::invalid_argument,
                       "the session has no messages and no artifacts"};
  switch (x.what) {
    case session_verb::add_messages:
      return content_.with_messages(content_.messages().with(
        take(std::type_identity<std::vector<ai::message>>{})));
    case session_verb::set_messages:
      return content_.with_messages(
        take(std::type_identity<ai::message_log>{}));
    case session_verb::set_custom:
      return content_.with_custom(what_->check_custom(std::move(x.value)));
    case session_verb::add_artifact:
      return content_.with_artifact(take(std::type_identity<ai::artifact>{}));
    case session_verb::set_artifacts:
      return content_.with_artifacts(ai::artifact_list{
        take(std::type_identity<std::vector<ai::artifact>>{})});
  }
  throw status_error{errc::invalid_argument, "a change of an unknown kind"};
}

// -- one after the other ------------------------------------------------------

void session_state::go_on() {
  busy_ = false;
  while (!busy_ && !waiting_.empty()) {
    auto next = std::move(waiting_.front());
    waiting_.erase(waiting_.begin());
    next();
  }
}

// -- the actor ----------------------------------------------------------------

session_actor spawn_session(caf::local_actor& parent,
                            std::shared_ptr<environment> env,
                            std::shared_ptr<const conversation_action> what,
                            session_opening opening, lease_holder owner) {
  // Lazy: the actor is not scheduled before its first message arrives.
  return parent.spawn<caf::hidden + caf::lazy_init>(
    [](session_actor::stateful_pointer<session_state> self,
       std::shared_ptr<environment> env,
       std::shared_ptr<const conversation_action> what, session_opening opening,
       lease_holder owner) {
      return self->state.run(std::move(env), std::move(what),
                             std::move(opening), std::move(owner));
    },
    std::move(env), std::move(what), std::move(opening), std::move(owner));
}

} // namespace tertulia::detail
