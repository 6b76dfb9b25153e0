// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/json.hpp>
#include <tertulia/status.hpp>
#include <tertulia/uuid.hpp>

#include <optional>
#include <utility>

#include "session_state.hpp"
#include <fmt/format.h>

// Start of a session: from its state in the store, from a snapshot, or anew.
// Requests to the store have no time-out: the connection limits the time of the
// whole start.

namespace tertulia::detail {

template <class Next>
void session_state::acquire_lease(view_promise promise, Next next) {
  if (!id_)
    id_ = start_->session;
  self_
    ->request(policy().store, caf::infinite,
              acquire_lease_request{ref(), owner_, env_->owner, start_->live})
    .then(
      [this, promise, next](const lease_grant& x) mutable {
        fence_ = x.fence;
        next(promise);
      },
      [promise](caf::error& reason) mutable {
        promise.deliver(std::move(reason));
      });
}

template <class Question, class Next>
void session_state::request_snapshot(view_promise promise, Question question,
                                     Next next) {
  self_->request(policy().store, caf::infinite, std::move(question))
    .then([promise, next](stored_snapshot& x) mutable { next(promise, x); },
          [promise](caf::error& reason) mutable {
            promise.deliver(std::move(reason));
          });
}

caf::result<session_view> session_state::start() {
  if (std::exchange(started_, true))
    return fail(errc::failed_precondition, "the session is open already");
  if (start_->session) {
    try {
      check_name({action_->info()->key, start_->session});
    } catch (...) {
      return current_exception_to_error();
    }
  }
  auto promise = self_->make_response_promise<session_view>();
  if (start_->snapshot)
    find_snapshot(promise);
  else if (start_->session)
    acquire_lease(promise, [this](view_promise& x) { find_session(x); });
  else
    lease_new_session(promise);
  return promise;
}

void session_state::find_snapshot(view_promise promise) {
  snapshot_ref snapshot_key{action_->info()->key, start_->session,
                            start_->snapshot};
  auto continue_with
    = [this, snapshot_key](view_promise& to, stored_snapshot& x) mutable {
        try {
          // Checked before a take-over, so that no live invocation is cancelled
          // in vain.
          policy().schema.check(x.record.type);
        } catch (...) {
          to.deliver(current_exception_to_error());
          return;
        }
        id_ = x.record.session;
        snapshot_key.session = id_;
        auto continue_with = [this, snapshot_key = std::move(snapshot_key),
                              type = x.record.type](view_promise& y) {
          load(y, snapshot_key, type);
        };
        // A branch does not affect another invocation, so it needs no lease.
        if (policy().restore == restore_rule::move_head)
          acquire_lease(to, std::move(continue_with));
        else
          continue_with(to);
      };
  self_
    ->request(policy().store, caf::infinite,
              get_snapshot_request{snapshot_key, detail_level::record})
    .then([promise, continue_with](
            stored_snapshot& x) mutable { continue_with(promise, x); },
          [this, promise](caf::error& reason) mutable {
            if (start_->session && !start_->hides_others
                && code_of(reason) == errc::not_found)
              report_missing(promise, reason);
            else
              promise.deliver(std::move(reason));
          });
}

void session_state::report_missing(view_promise promise,
                                   const caf::error& reason) {
  auto mismatch
    = fail(errc::invalid_argument,
           fmt::format("snapshot {} does not belong to session {}",
                       start_->snapshot.str(), start_->session.str()));
  get_snapshot_request anywhere{snapshot_ref{action_->info()->key, session_id{},
                                             start_->snapshot},
                                detail_level::record};
  self_->request(policy().store, caf::infinite, std::move(anywhere))
    .then([=](const stored_snapshot&) mutable { promise.deliver(mismatch); },
          [=](const caf::error& other) mutable {
            const auto in_several = code_of(other) == errc::failed_precondition;
            promise.deliver(in_several ? mismatch : reason);
          });
}

void session_state::load(view_promise promise, snapshot_ref snapshot,
                         const stored_type& type) {
  auto continue_with = [this](view_promise& to, stored_snapshot& x) {
    resume(to, std::move(x), {});
  };
  if (policy().restore == restore_rule::branch) {
    request_snapshot(promise, get_snapshot_request{std::move(snapshot)},
                     continue_with);
  } else if (type == policy().schema.known()) {
    request_snapshot(promise,
                     restore_snapshot_request{std::move(snapshot), fence_},
                     continue_with);
  } else {
    // Migrate the state before the head moves: if that fails, the head must
    // stay.
    request_snapshot(
      promise, get_snapshot_request{snapshot},
      [this, snapshot, continue_with](view_promise& to, stored_snapshot& x) {
        try {
          static_cast<void>(convert_state(std::move(x.content)));
        } catch (...) {
          to.deliver(current_exception_to_error());
          return;
        }
        request_snapshot(to, restore_snapshot_request{snapshot, fence_},
                         continue_with);
      });
  }
}

void session_state::lease_new_session(view_promise promise) {
  id_ = session_id{make_uuid()};
  acquire_lease(promise, [this](view_promise& x) { start_new_session(x); });
}

void session_state::find_session(view_promise promise) {
  self_->request(policy().store, caf::infinite, get_session_request{ref()})
    .then(
      [this, promise](stored_session& x) mutable {
        turn_ = x.info.next_turn;
        stored_mark_
          = {x.info.inputs.value_or(0), x.info.turn.value_or(turn_id{})};
        past_turns_ = std::move(x.info.past_turns);
        resume(promise, std::move(x.head), std::move(x.content));
      },
      [this, promise](caf::error& reason) mutable {
        if (code_of(reason) != errc::not_found)
          promise.deliver(std::move(reason));
        else
          start_new_session(promise);
      });
}

void session_state::finish_start(view_promise& promise) {
  start_.reset();
  first_turn_ = turn_;
  auto result = view();
  result.past_turns = std::exchange(past_turns_, {});
  promise.deliver(std::move(result));
}

void session_state::start_new_session(view_promise& promise) {
  const auto is_change = start_->initial && policy().saves_changes;
  try {
    // Not checked earlier: a session that is in the store ignores the initial
    // state.
    if (start_->initial && policy().check_initial)
      policy().check_initial(*start_->initial);
    set_initial_state();
    if (is_change)
      static_cast<void>(content_.id()); // throws if the state has no JSON
  } catch (...) {
    promise.deliver(current_exception_to_error());
    return;
  }
  if (!is_change)
    return finish_start(promise);
  self_
    ->request(policy().store, caf::infinite,
              save_of(content_, turn_, stored_mark_))
    .then(
      [this, promise](const session_info&) mutable {
        set_position({turn_, content_.id(), content_.type()});
        finish_start(promise);
      },
      [promise](caf::error& reason) mutable {
        promise.deliver(std::move(reason));
      });
}

void session_state::set_initial_state() {
  set_position({}); // the session is not in the store
  content_
    = start_->initial ? std::move(*start_->initial) : action_->first_state();
  last_turn_state_ = policy().store ? state{} : content_;
}

void session_state::resume(view_promise promise, stored_snapshot from,
                           std::optional<state> working) {
  try {
    if (from) {
      verify(from);
      if (!working) {
        turn_ = next_turn_after(from.record);
        stored_mark_.inputs = from.record.inputs.value_or(0);
      }
      const auto is_head = !working || working->same_as(from.content);
      set_position({turn_, is_head ? from.record.state : working->id(),
                    is_head ? from.record.type : working->type()});
      is_in_turn_ = is_head
                    && from.record.event == snapshot_event::tool_iteration_end
                    && action_->resume_input();
      parent_ = parent_record{std::move(from.record)};
      previous_state_ = convert_state(std::move(from.content));
      content_
        = is_head ? *previous_state_ : convert_state(std::move(*working));
      if (is_head && content_.type() == parent_.type)
        saved_version_ = version_;
    } else {
      if (working)
        set_position({turn_, working->id(), working->type()});
      content_
        = working ? convert_state(std::move(*working)) : action_->first_state();
    }
  } catch (...) {
    promise.deliver(current_exception_to_error());
    return;
  }
  finish_start(promise);
}

void session_state::verify(const stored_snapshot& x) {
  if (const auto id = x.content.id(); id != x.record.state)
    throw status_error{
      errc::data_loss,
      fmt::format("snapshot {} is corrupt: its state has the hash {}",
                  x.record.id.str(), id.str()),
      to_json_text(x.record)};
}

state session_state::convert_state(state x) const {
  x = policy().schema.adopt(std::move(x));
  return x.custom() ? x.with_custom(action_->check_custom(x.custom()))
                    : x.with_custom(action_->first_state().custom());
}

} // namespace tertulia::detail
