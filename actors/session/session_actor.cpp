// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/detail/session_actor.hpp>
#include <tertulia/detail/without_clock.hpp>
#include <tertulia/json.hpp>
#include <tertulia/status.hpp>
#include <tertulia/turn.hpp>

#include <caf/stateful_actor.hpp>

#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "session_state.hpp"
#include <fmt/format.h>

namespace tertulia::detail {

session_state::~session_state() {
  if (watches_store_)
    self_->demonitor(policy().store.address());
}

session_actor::behavior_type session_state::make_behavior(
  std::shared_ptr<environment> env,
  std::shared_ptr<const conversation_action> conversation,
  session_start start_request, lease_holder owner) {
  env_ = std::move(env);
  action_ = std::move(conversation);
  start_ = std::make_unique<session_start>(std::move(start_request));
  owner_ = std::move(owner);
  listener_ = std::move(start_->listener);
  if (!owner_) {
    started_ = true;
    id_ = start_->session;
    set_initial_state();
    start_.reset();
  } else if (policy().store.node() != self_->node()) {
    watch_store();
  }
  return {
    [this](caf::open_atom) { return start(); },
    [this](caf::get_atom) { return encodable(view()); },
    [this](session_edit& x) { return edit(x); },
    [this](snapshot_trigger x) { return trigger(x); },
    [this](turn_start& x) {
      content_ = content_.with_messages(
        content_.messages().with(std::move(x.messages)));
      ++version_;
    },
    [this](turn_end x) {
      turn_ = first_turn_ + x.turn;
      handle_event_end(snapshot_event::turn_end);
    },
    [this](caf::reset_atom) {
      if (!policy().store)
        content_ = last_turn_state_;
      return view();
    },
    [this](list_atom) { return encodable(summary()); },
    [this](done_atom, bool only_if_saved) { return finish(only_if_saved); },
  };
}

void session_state::watch_store() {
  // CAF does not answer a request to an actor of a lost node.
  self_->set_down_handler([this](const caf::down_msg& x) {
    self_->send(owner_, cancel_atom_v,
                fail(errc::unavailable, fmt::format("the store is lost: {}",
                                                    caf::to_string(x.reason))));
  });
  self_->monitor(policy().store);
  watches_store_ = true;
}

session_view session_state::view() const {
  session_view result{id_, content_, version_};
  result.turn = turn_;
  result.last_snapshot = parent_.id;
  result.inputs = stored_mark_.inputs;
  result.is_in_turn = is_in_turn_;
  if (stored_mark_.turn)
    result.turn_name = *stored_mark_.turn;
  return result;
}

save_session_request session_state::save_of(const state& x, std::uint64_t turn,
                                            const input_mark& mark) const {
  save_session_request result{ref(), x, turn, positions_, fence_};
  result.inputs = mark.inputs;
  if (mark.turn)
    result.turn = *mark.turn;
  return result;
}

session_summary session_state::summary() const {
  session_summary result;
  result.last = view();
  result.snapshots = new_snapshots_;
  return result;
}

caf::result<session_summary> session_state::finish(bool only_if_saved) {
  if (only_if_saved) {
    if (busy_ || saved_version_ != version_)
      return session_summary{};
    try {
      // Callbacks hear of each event, also if their answer changes nothing.
      static_cast<void>(is_wanted(snapshot_event::invocation_end));
    } catch (...) {
      return current_exception_to_error();
    }
  }
  self_->quit();
  auto result = summary();
  result.is_final = true;
  return result;
}

void session_state::check_encoding(const state& x) const {
  const auto& who = self_->current_sender();
  if (who && who->node() != self_->node())
    static_cast<void>(x.id());
}

template <class Result>
caf::result<Result> session_state::encodable(Result x) const {
  try {
    check_encoding(content_);
    return x;
  } catch (...) {
    return current_exception_to_error();
  }
}

// -- changes ------------------------------------------------------------------

caf::result<session_view> session_state::edit(session_edit& x) {
  if (!policy().saves_changes || !policy().store)
    return apply(x);
  auto promise = self_->make_response_promise<session_view>();
  enqueue(
    [this, promise, x = std::move(x)]() mutable { save_change(promise, x); });
  return promise;
}

caf::result<session_view> session_state::apply(session_edit& x) {
  try {
    auto next = changed_state(x);
    if (x.with_content)
      check_encoding(next);
    auto result = accept(std::move(next), x.with_content);
    if (listener_ && x.verb == session_verb::set_custom)
      self_->send(listener_, custom_change{content_.custom()});
    return result;
  } catch (...) {
    return current_exception_to_error();
  }
}

session_view session_state::accept(state next, bool with_content) {
  content_ = std::move(next);
  ++version_;
  auto result = view();
  if (!with_content)
    result.content = {};
  return result;
}

void session_state::save_change(view_promise promise, session_edit& x) {
  state next;
  session_position position;
  try {
    next = changed_state(x);
    position
      = {turn_, next.id(), next.type()}; // throws for a state without JSON
  } catch (...) {
    promise.deliver(current_exception_to_error());
    return;
  }
  begin_operation();
  // No time-out: the wait of the body limits the time, and the store may still
  // save the change after that.
  self_
    ->request(policy().store, caf::infinite, save_of(next, turn_, stored_mark_))
    .then(
      [this, promise, next, position,
       with_content = x.with_content](const session_info&) mutable {
        set_position(std::move(position));
        promise.deliver(accept(std::move(next), with_content));
        run_next();
      },
      [this, promise, position](caf::error& reason) mutable {
        add_position(std::move(position), reason);
        action_->activity().failed_saves.add();
        end_if_aborted(reason);
        promise.deliver(std::move(reason));
        run_next();
      });
}

state session_state::changed_state(session_edit& x) const {
  if (x.expected_version != 0 && x.expected_version != version_)
    throw status_error{errc::aborted, "the session has changed meanwhile"};
  auto take = [&]<class T>(std::type_identity<T>) {
    return std::move(x.value).template take<T>();
  };
  if (content_.form() == state_form::plain
      && x.verb != session_verb::set_custom)
    throw status_error{errc::invalid_argument,
                       "the session has no messages and no artifacts"};
  switch (x.verb) {
    case session_verb::add_messages:
      return content_.with_messages(content_.messages().with(
        take(std::type_identity<std::vector<ai::message>>{})));
    case session_verb::set_messages:
      return content_.with_messages(
        take(std::type_identity<ai::message_log>{}));
    case session_verb::set_custom:
      return content_.with_custom(action_->check_custom(std::move(x.value)));
    case session_verb::add_artifact:
      return content_.with_artifact(take(std::type_identity<ai::artifact>{}));
    case session_verb::set_artifacts:
      return content_.with_artifacts(ai::artifact_list{
        take(std::type_identity<std::vector<ai::artifact>>{})});
  }
  throw status_error{errc::invalid_argument, "a change of an unknown kind"};
}

// -- one after the other ------------------------------------------------------

void session_state::run_next() {
  if (std::exchange(busy_, false))
    action_->activity().saves.add_since(busy_since_);
  while (!busy_ && !pending_operations_.empty()) {
    auto next = std::move(pending_operations_.front());
    pending_operations_.erase(pending_operations_.begin());
    next();
  }
}

// -- the actor ----------------------------------------------------------------

session_actor
spawn_session(caf::local_actor& parent, std::shared_ptr<environment> env,
              std::shared_ptr<const conversation_action> conversation,
              session_start start_request, lease_holder owner) {
  // Lazy: the actor is not scheduled before its first message arrives.
  return parent.spawn<caf::hidden + caf::lazy_init>(
    [](stateful_without_clock<session_actor, session_state>* self,
       std::shared_ptr<environment> env,
       std::shared_ptr<const conversation_action> conversation,
       session_start start_request, lease_holder owner) {
      return self->state.make_behavior(std::move(env), std::move(conversation),
                                       std::move(start_request),
                                       std::move(owner));
    },
    std::move(env), std::move(conversation), std::move(start_request),
    std::move(owner));
}

} // namespace tertulia::detail
