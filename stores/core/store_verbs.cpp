// SPDX-License-Identifier: BSD-3-Clause

#include "store_verbs.hpp"

#include <tertulia/status.hpp>
#include <tertulia/store_rules.hpp>

#include <caf/timestamp.hpp>

#include <algorithm>
#include <utility>

#include "row_damage.hpp"

// Requests of conversations.

namespace tertulia {

namespace {

session_position position_of(const std::optional<session_row>& x) {
  if (!x)
    return {};
  return {x->info.next_turn, x->content.id, x->content.type};
}

} // namespace

// -- transactions -------------------------------------------------------------

void store_verbs::begin() {
  tables_.begin();
}

void store_verbs::commit() {
  try {
    tables_.expect_in_place();
    tables_.commit();
  } catch (...) {
    roll_back();
    throw;
  }
}

void store_verbs::roll_back() noexcept {
  contents_.forget_all();
  listed_ = {};
  tables_.roll_back();
}

// -- leases -------------------------------------------------------------------

lease_grant store_verbs::answer(const acquire_lease_request& x) {
  rules::check(x);
  return lease_grant{tables_.add_lease(x.target)};
}

bool store_verbs::answer(const release_lease_request& x) {
  const auto is_held = tables_.fence_of(x.target) != 0;
  if (is_held)
    tables_.erase_lease(x.target);
  return is_held;
}

void store_verbs::check_fence(const session_ref& name, std::uint64_t fence) {
  if (fence != 0)
    rules::check_fence(name, fence, tables_.fence_of(name));
}

// -- saving -------------------------------------------------------------------

session_row store_verbs::find_or_add(std::optional<session_row> known,
                                     const session_ref& name) {
  if (known)
    return std::move(*known);
  session_row result;
  result.key = tables_.add(name);
  result.info.agent = name.agent;
  result.info.id = name.id;
  result.info.created_at = caf::make_timestamp();
  return result;
}

save_result store_verbs::answer(save_snapshot_request x) {
  rules::check(x);
  auto& saved = x.record;
  const session_ref name{saved.agent, saved.session};
  check_fence(name, x.fence);
  auto known = find(name);
  std::optional<record_row> parent;
  if (saved.parent != 0) {
    if (known)
      parent = find(*known, saved.parent);
    if (!parent)
      rules::reject_unknown(snapshot_ref{name, saved.parent});
  }
  rules::check_place(x, known ? known->info.head : 0,
                     known ? known->last_sequence : 0);
  if (!x.follows.empty())
    rules::check_position(name, x.follows, position_of(known));
  const auto as_it_was = x.where == append_rule::as_it_was;
  if (!as_it_was && parent && parent->content.id == saved.state
      && parent->content.type == saved.type)
    return {record_of(*known, *parent, !is_active(*known, parent->sequence)),
            false};

  auto in = find_or_add(std::move(known), name);
  auto& info = in.info;
  // A branch continues from the messages of its parent, any other record from
  // those of the session.
  const auto is_branch = parent && saved.parent != info.head;
  contents_.work_on(in, x.content, saved.state,
                    is_branch ? &parent->content : nullptr);
  contents_.seal(in);
  rules::describe(info, x.content);

  if (!as_it_was) {
    saved.sequence = in.last_sequence + 1;
    saved.index = parent ? parent->index + 1 : 0;
  }
  saved.parent_id = parent ? parent->id() : snapshot_id{};
  saved.orphaned = false;
  in.last_sequence = saved.sequence;
  info.updated_at = caf::make_timestamp();
  info.head = saved.sequence;
  info.next_turn = next_turn_after(saved);
  ++info.records;
  tables_.write(in);

  record_row made;
  made.session = in.key;
  made.sequence = saved.sequence;
  made.parent = saved.parent;
  const auto follows = parent && saved.parent + 1 == saved.sequence;
  made.run = follows ? parent->run : saved.sequence;
  made.index = saved.index;
  made.turn_index = saved.turn_index;
  made.event = saved.event;
  made.created_at = saved.created_at;
  if (saved.id.str() != saved.state.str())
    made.own_id = saved.id;
  made.note = saved.note;
  made.labels = saved.labels;
  made.content = std::move(in.content);
  tables_.write(made);
  return {std::move(saved), true};
}

session_info store_verbs::answer(const save_session_request& x) {
  const auto id = rules::check(x);
  check_fence(x.target, x.fence);
  auto known = find(x.target);
  if (!x.follows.empty())
    rules::check_position(x.target, x.follows, position_of(known));
  auto in = find_or_add(std::move(known), x.target);
  contents_.work_on(in, x.content, id, nullptr);
  rules::describe(in.info, x.content);
  in.info.updated_at = caf::make_timestamp();
  in.info.next_turn = x.next_turn;
  tables_.write(in);
  return std::move(in.info);
}

// -- reading ------------------------------------------------------------------

stored_snapshot store_verbs::answer(const get_snapshot_request& x) {
  const auto [in, what] = find(x.target);
  auto record = record_of(in, what, !is_active(in, what.sequence));
  if (x.wanted == detail_level::record)
    return stored_snapshot{std::move(record)};
  auto content = contents_.load(what.content, nullptr);
  if (what.content.is_same_state(in.content)
      && what.content.messages == in.content.messages)
    contents_.remember(in, content);
  return stored_snapshot{std::move(record), std::move(content)};
}

stored_snapshot store_verbs::answer(const restore_snapshot_request& x) {
  auto [in, what] = find(x.target);
  check_fence(in.name(), x.fence);
  auto content = contents_.load(what.content, nullptr);
  auto record = record_of(in, what, false);
  contents_.switch_to(in, what.content);
  contents_.remember(in, content);
  rules::describe(in.info, content);
  in.info.head = record.sequence;
  in.info.next_turn = next_turn_after(record);
  in.info.updated_at = caf::make_timestamp();
  tables_.write(in);
  return stored_snapshot{std::move(record), std::move(content)};
}

stored_session store_verbs::answer(const get_session_request& x) {
  rules::check(x.target);
  const auto in = find_known(x.target);
  stored_session result;
  result.info = in.info;
  const auto with_state = x.wanted == detail_level::state;
  std::optional<record_row> head;
  if (in.info.head != 0) {
    try {
      head = find(in, in.info.head);
      if (!head)
        rules::reject(rules::damage_of(damage_kind::missing, in, in.info.head,
                                       "is missing"));
      result.head = stored_snapshot{record_of(in, *head, false)};
    } catch (const status_error& error) {
      // A session can be described without its head, but not continued.
      if (error.code() != errc::data_loss || with_state)
        throw;
    }
  }
  if (!with_state)
    return result;
  result.content = contents_.load(in.content, nullptr);
  contents_.remember(in, result.content);
  if (head)
    result.head.content = head->content.is_same_state(in.content)
                            ? result.content
                            : contents_.load(head->content, nullptr);
  return result;
}

} // namespace tertulia
