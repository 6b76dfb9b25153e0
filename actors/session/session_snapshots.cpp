// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/uuid.hpp>

#include <caf/timestamp.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "session_state.hpp"
#include <spdlog/logger.h>

// Creation and storage of the snapshots of a session.

namespace tertulia::detail {

namespace {

/// Metadata key of the snapshot id in the last message of a session flow.
constexpr auto snapshot_tag = "snapshotId";

/// Maximum number of positions that a save may follow.
constexpr std::size_t max_positions = 8;

/// Returns the place of an event among the numbers of an action.
std::size_t index_of(snapshot_event x) noexcept {
  return static_cast<std::size_t>(x);
}

/// Returns the position of a session whose head is `x`.
session_position position_after(const snapshot_record& x) {
  return {next_turn_after(x), x.state, x.type};
}

} // namespace

caf::result<snapshot_outcome> session_state::trigger(snapshot_trigger what) {
  auto promise = self_->make_response_promise<snapshot_outcome>();
  enqueue([this, promise, what] {
    turn_ = first_turn_ + what.turn;
    finish_reason_ = what.finish_reason;
    is_in_turn_ = false;
    // A turn that cannot be resumed is taken again from its beginning.
    const auto counts = what.event != snapshot_event::tool_iteration_end
                        || action_->resume_input();
    mark_ = counts ? input_mark{what.inputs, what.turn_name} : stored_mark_;
    make_snapshot(promise, what.event);
  });
  return promise;
}

void session_state::handle_event_end(snapshot_event event) {
  if (event != snapshot_event::turn_end)
    return;
  ++turn_;
  if (!policy().store)
    last_turn_state_ = content_;
}

void session_state::make_snapshot(outcome_promise promise, snapshot_event event,
                                  std::optional<bool> found) {
  const auto done = [&](snapshot_outcome outcome) {
    if (event == snapshot_event::turn_end && policy().store
        && policy().saves_changes)
      return save_turn(promise, std::move(outcome));
    handle_event_end(event);
    promise.deliver(std::move(outcome));
  };
  try {
    if (!policy().makes_snapshots())
      return done(outcome({}, false));
    if (!found && !is_wanted(event)) {
      // The end of the invocation returns the last snapshot if it has the
      // current state, whether or not a snapshot is wanted.
      const auto is_kept
        = event == snapshot_event::invocation_end && saved_version_ == version_;
      return done(outcome(is_kept ? parent_.id : snapshot_id{}, false));
    }
    if (saved_version_ == version_) // no change since the last one
      return done(outcome(parent_.id, found.value_or(false)));
    if (unconfirmed_save_)
      return check_unconfirmed_save(promise, event);
    auto content = content_;
    snapshot_record record;
    if (policy().ids == id_scheme::unique) {
      if (previous_state_ && content == *previous_state_
          && content.type() == parent_.type)
        return done(outcome(parent_.id, false));
      record.id = snapshot_id{make_uuid()};
      if (!content.messages().empty())
        content = content.with_messages(
          with_snapshot_id(content.messages(), record.id));
      record.state = content.id();
    } else {
      record.state = content.id();
      if (record.state == parent_.state && content.type() == parent_.type)
        return done(outcome(parent_.id, found.value_or(false)));
      record.id = snapshot_id{record.state.str()};
    }
    record.type = content.type();
    record.agent = action_->info()->key;
    record.session = id_;
    record.parent = parent_.sequence;
    record.turn_index = turn_;
    record.event = event;
    record.finish_reason = finish_reason_;
    record.inputs = mark_.inputs;
    record.created_at = caf::make_timestamp();
    save(promise, event, std::move(record), std::move(content));
  } catch (...) {
    promise.deliver(current_exception_to_error());
  }
}

bool session_state::is_wanted(snapshot_event event) const {
  return policy().wanted(snapshot_moment{
    event, content_, previous_state_ ? &*previous_state_ : nullptr,
    parent_.sequence > 0 ? parent_.index + 1 : 0, turn_});
}

ai::message_log session_state::with_snapshot_id(const ai::message_log& log,
                                                const snapshot_id& id) {
  auto last = log.back();
  last.metadata[snapshot_tag] = id.str();
  return log.with_back(std::move(last));
}

void session_state::save(outcome_promise promise, snapshot_event event,
                         snapshot_record record, state content) {
  begin_operation();
  // Changes made while the store works are not part of this snapshot.
  const auto version = version_;
  const auto before = content_.messages();
  const auto moves_head = policy().restore == restore_rule::move_head;
  const auto rule = moves_head ? append_rule::at_head : append_rule::anywhere;
  auto id = record.id;
  const auto position = position_after(record);
  save_snapshot_request change{std::move(record), content, rule, positions_,
                               fence_};
  if (mark_.turn)
    change.turn = *mark_.turn;
  // No time-out: the connection limits the time of a snapshot.
  self_->request(policy().store, caf::infinite, std::move(change))
    .then(
      [=, this, mark = mark_](save_result& x) mutable {
        merge_messages(before, content.messages());
        if (x.created) {
          action_->activity().snapshots[index_of(event)].add();
          set_position(position);
          stored_mark_ = std::move(mark);
        }
        set_parent(std::move(x.record), std::move(content), version, x.created);
        handle_event_end(event);
        promise.deliver(outcome(parent_.id, x.created));
        run_next();
      },
      [=, this](caf::error& reason) mutable {
        add_position(position, reason);
        if (moves_head && code_of(reason) != errc::aborted)
          unconfirmed_save_ = std::make_unique<save_attempt>(
            std::move(id), std::move(content), version);
        handle_save_failure(promise, event, std::move(reason));
      });
}

snapshot_outcome session_state::outcome(snapshot_id id, bool created) const {
  snapshot_outcome result{std::move(id), created};
  result.stored_inputs = stored_mark_.inputs;
  return result;
}

void session_state::set_parent(snapshot_record&& record, state&& content,
                               std::uint64_t version, bool created) {
  unconfirmed_save_.reset();
  parent_ = parent_record{std::move(record)};
  previous_state_ = std::move(content);
  saved_version_ = version;
  if (created)
    new_snapshots_.push_back(parent_.id);
}

void session_state::check_unconfirmed_save(outcome_promise promise,
                                           snapshot_event event) {
  begin_operation();
  // No time-out: the connection limits the time of a snapshot.
  self_
    ->request(policy().store, caf::infinite,
              get_session_request{ref(), detail_level::record})
    .then(
      [=, this](stored_session& x) mutable {
        resolve_save(promise, event, std::move(x.head.record));
      },
      [=, this](caf::error& reason) mutable {
        if (code_of(reason) == errc::not_found)
          resolve_save(promise, event, {});
        else
          handle_save_failure(promise, event, std::move(reason));
      });
}

void session_state::resolve_save(outcome_promise promise, snapshot_event event,
                                 snapshot_record head) {
  const auto unconfirmed = std::move(unconfirmed_save_);
  const auto found = head.id == unconfirmed->id
                     && head.parent == parent_.sequence
                     && head.type == unconfirmed->content.type();
  if (found) {
    stored_mark_.inputs = head.inputs.value_or(0);
    set_parent(std::move(head), std::move(unconfirmed->content),
               unconfirmed->version, true);
  }
  busy_ = false;
  make_snapshot(promise, event, found);
  if (!busy_)
    run_next();
}

void session_state::save_turn(outcome_promise promise,
                              snapshot_outcome outcome) {
  session_position position{turn_ + 1, content_.id(), content_.type()};
  begin_operation();
  // No time-out: the connection limits the time of a snapshot.
  self_
    ->request(policy().store, caf::infinite,
              save_of(content_, turn_ + 1, mark_))
    .then(
      [=, this, mark = mark_](const session_info&) mutable {
        set_position(position);
        outcome.stored_inputs = mark.inputs;
        stored_mark_ = std::move(mark);
        handle_event_end(snapshot_event::turn_end);
        promise.deliver(std::move(outcome));
        run_next();
      },
      [=, this](caf::error& reason) mutable {
        add_position(position, reason);
        handle_save_failure(promise, snapshot_event::turn_end,
                            std::move(reason));
      });
}

void session_state::handle_save_failure(outcome_promise promise,
                                        snapshot_event event,
                                        caf::error reason) {
  action_->activity().failed_saves.add();
  end_if_aborted(reason);
  if (policy().on_failure == save_failure::is_reported
      && code_of(reason) != errc::aborted) {
    env_->log->warn("{} saved no snapshot: {}", action_->info()->key,
                    to_string(code_of(reason)));
    handle_event_end(event);
    auto lacking = outcome({}, false);
    lacking.failure = code_of(reason);
    promise.deliver(std::move(lacking));
  } else {
    promise.deliver(std::move(reason));
  }
  run_next();
}

void session_state::end_if_aborted(const caf::error& reason) {
  if (fence_ != 0 && code_of(reason) == errc::aborted)
    self_->send(owner_, cancel_atom_v, reason);
}

void session_state::set_position(session_position x) {
  if (!policy().saves_changes)
    return;
  positions_.clear();
  positions_.push_back(std::move(x));
}

void session_state::add_position(session_position x, const caf::error& reason) {
  if (!policy().saves_changes || code_of(reason) == errc::aborted)
    return;
  if (std::find(positions_.begin(), positions_.end(), x) == positions_.end())
    positions_.push_back(std::move(x));
  // A body may retry for ever, so the list is bounded. The oldest unconfirmed
  // position is the least likely one.
  if (positions_.size() > max_positions)
    positions_.erase(positions_.begin() + 1);
}

void session_state::merge_messages(const ai::message_log& before,
                                   const ai::message_log& stored) {
  if (before.same_as(stored))
    return;
  const auto& now = content_.messages();
  if (now.shared_with(before) < before.size())
    return; // the messages were replaced
  std::vector<ai::message> added;
  for (const auto& x : now.from(before.size()))
    added.push_back(x);
  content_ = content_.with_messages(stored.with(std::move(added)));
}

} // namespace tertulia::detail
