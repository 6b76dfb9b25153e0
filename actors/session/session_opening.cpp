// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/json.hpp>
#include <tertulia/status.hpp>
#include <tertulia/uuid.hpp>

#include <optional>
#include <utility>

#include "session_state.hpp"

// Start of a session: from its state in the store, from a snapshot, or anew.
// Requests to the store have no time-out: the connection limits the time of the
// whole start.

namespace tertulia::detail {

template <class Next>
void session_state::claim(view_promise promise, Next next) {
  if (!id_)
    id_ = opening_->session;
  self_
    ->request(env_->leases, caf::infinite, claim_atom_v, ref(), owner_,
              opening_->live)
    .then([promise, next]() mutable { next(promise); },
          [promise](caf::error& reason) mutable {
            promise.deliver(std::move(reason));
          });
}

template <class Question, class Next>
void session_state::ask(view_promise promise, Question question, Next next) {
  self_->request(policy().store, caf::infinite, std::move(question))
    .then([promise, next](stored_snapshot& x) mutable { next(promise, x); },
          [promise](caf::error& reason) mutable {
            promise.deliver(std::move(reason));
          });
}

caf::result<session_view> session_state::start() {
  if (std::exchange(started_, true))
    return fail(errc::failed_precondition, "the session is open already");
  if (opening_->session) {
    try {
      check_name({what_->info.key, opening_->session});
    } catch (...) {
      return current_exception_to_error();
    }
  }
  auto promise = self_->make_response_promise<session_view>();
  if (opening_->snapshot)
    find_snapshot(promise);
  else if (opening_->session)
    claim(promise, [this](view_promise& x) { find_session(x); });
  else
    claim_new(promise);
  return promise;
}

void session_state::find_snapshot(view_promise promise) {
  snapshot_ref which{what_->info.key, opening_->session, opening_->snapshot};
  auto go_on = [this, which](view_promise& to, stored_snapshot& x) mutable {
    try {
      // Checked before a take-over, so that no live invocation is cancelled in
      // vain.
      policy().schema.check(x.record.type);
    } catch (...) {
      to.deliver(current_exception_to_error());
      return;
    }
    id_ = x.record.session;
    which.session = id_;
    auto go_on = [this, which = std::move(which), type = x.record.type](
                   view_promise& y) { load(y, which, type); };
    // A branch does not affect another invocation, so it needs no lease.
    if (policy().restore == restore_rule::move_head)
      claim(to, std::move(go_on));
    else
      go_on(to);
  };
  self_
    ->request(policy().store, caf::infinite,
              get_snapshot{which, detail_level::record})
    .then([promise, go_on](stored_snapshot& x) mutable { go_on(promise, x); },
          [this, promise](caf::error& reason) mutable {
            if (opening_->session && code_of(reason) == errc::not_found)
              explain_missing(promise, reason);
            else
              promise.deliver(std::move(reason));
          });
}

void session_state::explain_missing(view_promise promise,
                                    const caf::error& reason) {
  auto mismatch = fail(errc::invalid_argument,
                       "snapshot " + opening_->snapshot.str()
                         + " is not one of session " + opening_->session.str());
  get_snapshot anywhere{snapshot_ref{what_->info.key, session_id{},
                                     opening_->snapshot},
                        detail_level::record};
  self_->request(policy().store, caf::infinite, std::move(anywhere))
    .then([=](const stored_snapshot&) mutable { promise.deliver(mismatch); },
          [=](const caf::error& other) mutable {
            const auto in_several = code_of(other) == errc::failed_precondition;
            promise.deliver(in_several ? mismatch : reason);
          });
}

void session_state::load(view_promise promise, snapshot_ref which,
                         const stored_type& type) {
  auto go_on = [this](view_promise& to, stored_snapshot& x) {
    resume(to, std::move(x), {});
  };
  if (policy().restore == restore_rule::branch) {
    ask(promise, get_snapshot{std::move(which)}, go_on);
  } else if (type == policy().schema.known()) {
    ask(promise, restore_snapshot{std::move(which)}, go_on);
  } else {
    // Migrate the state before the head moves: if that fails, the head must
    // stay.
    ask(promise, get_snapshot{which},
        [this, which, go_on](view_promise& to, stored_snapshot& x) {
          try {
            static_cast<void>(typed(std::move(x.content)));
          } catch (...) {
            to.deliver(current_exception_to_error());
            return;
          }
          ask(to, restore_snapshot{which}, go_on);
        });
  }
}

void session_state::claim_new(view_promise promise) {
  id_ = session_id{make_uuid()};
  claim(promise, [this](view_promise& x) { begin_anew(x); });
}

void session_state::find_session(view_promise promise) {
  self_->request(policy().store, caf::infinite, get_session{ref()})
    .then(
      [this, promise](stored_session& x) mutable {
        turn_ = x.info.next_turn;
        resume(promise, std::move(x.head), std::move(x.content));
      },
      [this, promise](caf::error& reason) mutable {
        if (code_of(reason) != errc::not_found)
          promise.deliver(std::move(reason));
        else
          begin_anew(promise);
      });
}

void session_state::opened(view_promise& promise) {
  opening_.reset();
  promise.deliver(view());
}

void session_state::begin_anew(view_promise& promise) {
  const auto is_change = opening_->initial && policy().saves_changes;
  try {
    // Not checked earlier: a session that is in the store ignores the initial
    // state.
    if (opening_->initial && policy().check_initial)
      policy().check_initial(*opening_->initial);
    set_out();
    if (is_change)
      static_cast<void>(content_.id()); // throws if the state has no JSON
  } catch (...) {
    promise.deliver(current_exception_to_error());
    return;
  }
  if (!is_change)
    return opened(promise);
  self_
    ->request(policy().store, caf::infinite,
              save_session{ref(), content_, turn_, positions_})
    .then(
      [this, promise](const session_info&) mutable {
        stand_at({turn_, content_.id(), content_.type()});
        opened(promise);
      },
      [promise](caf::error& reason) mutable {
        promise.deliver(std::move(reason));
      });
}

void session_state::set_out() {
  stand_at({}); // the session is not in the store
  content_
    = opening_->initial ? std::move(*opening_->initial) : what_->first_state();
  good_ = policy().store ? state{} : content_;
}

void session_state::resume(view_promise promise, stored_snapshot from,
                           std::optional<state> working) {
  try {
    if (from) {
      verify(from);
      if (!working)
        turn_ = next_turn_after(from.record);
      const auto is_head = !working || working->same_as(from.content);
      stand_at({turn_, is_head ? from.record.state : working->id(),
                is_head ? from.record.type : working->type()});
      last_ = standing{std::move(from.record)};
      previous_ = typed(std::move(from.content));
      content_ = is_head ? *previous_ : typed(std::move(*working));
      if (is_head && content_.type() == last_.type)
        saved_version_ = version_;
    } else {
      if (working)
        stand_at({turn_, working->id(), working->type()});
      content_ = working ? typed(std::move(*working)) : what_->first_state();
    }
  } catch (...) {
    promise.deliver(current_exception_to_error());
    return;
  }
  opened(promise);
}

void session_state::verify(const stored_snapshot& x) {
  if (const auto id = x.content.id(); id != x.record.state)
    throw status_error{errc::data_loss,
                       "snapshot " + x.record.id.str()
                         + " is corrupt: its state has the hash " + id.str(),
                       to_json_text(x.record)};
}

state session_state::typed(state x) const {
  x = policy().schema.adopt(std::move(x));
  return x.custom() ? x.with_custom(what_->check_custom(x.custom()))
                    : x.with_custom(what_->first_state().custom());
}

} // namespace tertulia::detail
