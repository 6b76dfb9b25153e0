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

/// Returns the position of a session whose head is `x`.
session_position position_after(const snapshot_record& x) {
  return {next_turn_after(x), x.state, x.type};
}

} // namespace

caf::result<snapshot_outcome> session_state::trigger(snapshot_event event) {
  auto promise = self_->make_response_promise<snapshot_outcome>();
  in_turn([this, promise, event] { make_snapshot(promise, event); });
  return promise;
}

void session_state::make_snapshot(outcome_promise promise, snapshot_event event,
                                  std::optional<bool> found) {
  const auto done = [&](snapshot_outcome outcome) {
    if (event == snapshot_event::turn_end && policy().store
        && policy().saves_changes)
      return save_turn(promise, std::move(outcome));
    end_of(event);
    promise.deliver(std::move(outcome));
  };
  try {
    if (!policy().makes_snapshots())
      return done({});
    if (!found && !is_wanted(event)) {
      // The end of the invocation returns the last snapshot if it has the
      // current state, whether or not a snapshot is wanted.
      const auto is_kept
        = event == snapshot_event::invocation_end && saved_version_ == version_;
      return done({is_kept ? last_.id : snapshot_id{}, false});
    }
    if (saved_version_ == version_) // no change since the last one
      return done({last_.id, found.value_or(false)});
    if (doubtful_)
      return settle_doubt(promise, event);
    auto content = content_;
    snapshot_record record;
    if (policy().ids == id_scheme::unique) {
      if (previous_ && content == *previous_ && content.type() == last_.type)
        return done({last_.id, false});
      record.id = snapshot_id{make_uuid()};
      if (!content.messages().empty())
        content = content.with_messages(tagged(content.messages(), record.id));
      record.state = content.id();
    } else {
      record.state = content.id();
      if (record.state == last_.state && content.type() == last_.type)
        return done({last_.id, found.value_or(false)});
      record.id = snapshot_id{record.state.str()};
    }
    record.type = content.type();
    record.agent = what_->info.key;
    record.session = id_;
    record.parent = last_.sequence;
    record.turn_index = turn_;
    record.event = event;
    record.created_at = caf::make_timestamp();
    save(promise, event, std::move(record), std::move(content));
  } catch (...) {
    promise.deliver(current_exception_to_error());
  }
}

bool session_state::is_wanted(snapshot_event event) const {
  return policy().wanted(
    snapshot_moment{event, content_, previous_ ? &*previous_ : nullptr,
                    last_.sequence > 0 ? last_.index + 1 : 0, turn_});
}

ai::message_log session_state::tagged(const ai::message_log& log,
                                      const snapshot_id& id) {
  auto last = log.back();
  last.metadata[snapshot_tag] = id.str();
  return log.with_back(std::move(last));
}

void session_state::save(outcome_promise promise, snapshot_event event,
                         snapshot_record record, state content) {
  busy_ = true;
  // Changes made while the store works are not part of this snapshot.
  const auto version = version_;
  const auto before = content_.messages();
  const auto at_head = policy().restore == restore_rule::move_head;
  const auto rule = at_head ? append_rule::at_head : append_rule::anywhere;
  auto id = record.id;
  const auto where = position_after(record);
  self_
    ->request(policy().store, caf::infinite,
              save_snapshot{std::move(record), content, rule, positions_})
    .then(
      [=, this](saved_snapshot& x) mutable {
        keep_tag(before, content.messages());
        if (x.created)
          stand_at(where);
        stand_on(std::move(x.record), std::move(content), version, x.created);
        end_of(event);
        promise.deliver(snapshot_outcome{last_.id, x.created});
        go_on();
      },
      [=, this](caf::error& reason) mutable {
        doubt(where, reason);
        if (at_head && code_of(reason) != errc::aborted)
          doubtful_ = std::make_unique<attempt>(std::move(id),
                                                std::move(content), version);
        not_saved(promise, event, std::move(reason));
      });
}

void session_state::stand_on(snapshot_record&& record, state&& content,
                             std::uint64_t version, bool created) {
  doubtful_.reset();
  last_ = standing{std::move(record)};
  previous_ = std::move(content);
  saved_version_ = version;
  if (created)
    made_.push_back(last_.id);
}

void session_state::settle_doubt(outcome_promise promise,
                                 snapshot_event event) {
  busy_ = true;
  self_
    ->request(policy().store, caf::infinite,
              get_session{ref(), detail_level::record})
    .then(
      [=, this](stored_session& x) mutable {
        go_on_from(promise, event, std::move(x.head.record));
      },
      [=, this](caf::error& reason) mutable {
        if (code_of(reason) == errc::not_found)
          go_on_from(promise, event, {});
        else
          not_saved(promise, event, std::move(reason));
      });
}

void session_state::go_on_from(outcome_promise promise, snapshot_event event,
                               snapshot_record head) {
  const auto attempted = std::move(doubtful_);
  const auto found = head.id == attempted->id && head.parent == last_.sequence
                     && head.type == attempted->content.type();
  if (found)
    stand_on(std::move(head), std::move(attempted->content), attempted->version,
             true);
  busy_ = false;
  make_snapshot(promise, event, found);
  if (!busy_)
    go_on();
}

void session_state::save_turn(outcome_promise promise,
                              snapshot_outcome outcome) {
  session_position where{turn_ + 1, content_.id(), content_.type()};
  busy_ = true;
  self_
    ->request(policy().store, caf::infinite,
              save_session{ref(), content_, turn_ + 1, positions_})
    .then(
      [=, this](const session_info&) mutable {
        stand_at(where);
        end_of(snapshot_event::turn_end);
        promise.deliver(std::move(outcome));
        go_on();
      },
      [=, this](caf::error& reason) mutable {
        doubt(where, reason);
        not_saved(promise, snapshot_event::turn_end, std::move(reason));
      });
}

void session_state::not_saved(outcome_promise promise, snapshot_event event,
                              caf::error reason) {
  if (policy().on_failure == save_failure::is_reported) {
    env_->log->warn("{} saved no snapshot: {}", what_->info.key,
                    to_string(code_of(reason)));
    end_of(event);
    snapshot_outcome outcome;
    outcome.failure = code_of(reason);
    promise.deliver(std::move(outcome));
  } else {
    promise.deliver(std::move(reason));
  }
  go_on();
}

void session_state::stand_at(session_position x) {
  if (!policy().saves_changes)
    return;
  positions_.clear();
  positions_.push_back(std::move(x));
}

void session_state::doubt(session_position x, const caf::error& reason) {
  if (!policy().saves_changes || code_of(reason) == errc::aborted)
    return;
  if (std::find(positions_.begin(), positions_.end(), x) == positions_.end())
    positions_.push_back(std::move(x));
  // A body may retry for ever, so the list is bounded. The oldest unconfirmed
  // position is the least likely one.
  if (positions_.size() > max_positions)
    positions_.erase(positions_.begin() + 1);
}

void session_state::keep_tag(const ai::message_log& before,
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

void session_state::end_of(snapshot_event event) {
  if (event != snapshot_event::turn_end)
    return;
  ++turn_;
  if (!policy().store)
    good_ = content_;
}

} // namespace tertulia::detail
