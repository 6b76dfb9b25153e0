// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/status.hpp>
#include <tertulia/store_rules.hpp>

#include <caf/timestamp.hpp>

#include <utility>

#include "contents/row_damage.hpp"
#include "store_data.hpp"

// Requests of conversations.

namespace tertulia {

namespace {

session_position position_of(const std::optional<session_row>& x) {
  if (!x)
    return {};
  return {x->info.next_turn, x->content.id, x->content.type};
}

/// Throws if a change has another fence than the lease of its session.
void check_fence(store_data& data, const session_ref& name,
                 std::uint64_t fence) {
  if (fence != 0)
    rules::check_fence(name, fence, data.tables().fence_of(name));
}

/// Adds a session, or returns the one that exists.
session_row find_or_add(store_data& data, std::optional<session_row> known,
                        const session_ref& name) {
  if (known)
    return std::move(*known);
  session_row result;
  result.key = data.tables().add(name);
  result.info.agent = name.agent;
  result.info.id = name.id;
  result.info.created_at = caf::make_timestamp();
  return result;
}

} // namespace

// -- leases -------------------------------------------------------------------

/// Grants the lease, whoever holds it: the supervisor knows the holders.
lease_grant answer(store_data& data, acquire_lease_request x) {
  rules::check(x);
  return lease_grant{data.tables().add_lease(x.target)};
}

bool answer(store_data& data, release_lease_request x) {
  const auto is_held = data.tables().fence_of(x.target) != 0;
  if (is_held)
    data.tables().erase_lease(x.target);
  return is_held;
}

// -- saving -------------------------------------------------------------------

save_result answer(store_data& data, save_snapshot_request x) {
  rules::check(x);
  auto& saved = x.record;
  const session_ref name{saved.agent, saved.session};
  check_fence(data, name, x.fence);
  auto known = data.find(name);
  std::optional<record_row> parent;
  if (saved.parent != 0) {
    if (known)
      parent = data.find(*known, saved.parent);
    if (!parent)
      rules::reject_unknown(snapshot_ref{name, saved.parent});
  }
  rules::check_place(x, known ? known->info.head : 0,
                     known ? known->last_sequence : 0);
  if (!x.follows.empty())
    rules::check_position(name, x.follows, position_of(known));
  const auto as_it_was = x.rule == append_rule::as_it_was;
  if (!as_it_was && parent && parent->content.id == saved.state
      && parent->content.type == saved.type)
    return {data.record_of(*known, *parent,
                           !data.is_active(*known, parent->sequence)),
            false};

  auto in = find_or_add(data, std::move(known), name);
  auto& info = in.info;
  // A branch continues from the messages of its parent, any other record from
  // those of the session.
  const auto is_branch = parent && saved.parent != info.head;
  data.contents().work_on(in, x.content, saved.state,
                          is_branch ? &parent->content : nullptr);
  data.contents().seal(in);
  rules::describe(info, x.content);
  if (saved.parent != info.head)
    rules::note_turn(info, parent ? parent->inputs : 0);
  rules::note_turn(info, saved.inputs, std::move(x.turn));

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
  data.tables().write(in);

  record_row made;
  made.session = in.key;
  made.sequence = saved.sequence;
  made.parent = saved.parent;
  const auto follows = parent && saved.parent + 1 == saved.sequence;
  made.run = follows ? parent->run : saved.sequence;
  made.index = saved.index;
  made.turn_index = saved.turn_index;
  made.event = saved.event;
  made.finish_reason = saved.finish_reason;
  made.inputs = saved.inputs;
  made.created_at = saved.created_at;
  if (saved.id.str() != saved.state.str())
    made.own_id = saved.id;
  made.note = saved.note;
  made.labels = saved.labels;
  made.content = std::move(in.content);
  data.tables().write(made);
  return {std::move(saved), true};
}

session_info answer(store_data& data, save_session_request x) {
  const auto id = rules::check(x);
  check_fence(data, x.target, x.fence);
  auto known = data.find(x.target);
  if (!x.follows.empty())
    rules::check_position(x.target, x.follows, position_of(known));
  auto in = find_or_add(data, std::move(known), x.target);
  data.contents().work_on(in, x.content, id, nullptr);
  rules::describe(in.info, x.content);
  in.info.updated_at = caf::make_timestamp();
  in.info.next_turn = x.next_turn;
  rules::note_turn(in.info, x.inputs, std::move(x.turn));
  data.tables().write(in);
  return std::move(in.info);
}

// -- reading ------------------------------------------------------------------

stored_snapshot answer(store_data& data, get_snapshot_request x) {
  const auto [in, what] = data.find(x.target);
  auto record = data.record_of(in, what, !data.is_active(in, what.sequence));
  if (x.detail == detail_level::record)
    return stored_snapshot{std::move(record)};
  auto content = data.contents().load(what.content, nullptr);
  if (what.content.is_same_state(in.content)
      && what.content.messages == in.content.messages)
    data.contents().remember(in, content);
  return stored_snapshot{std::move(record), std::move(content)};
}

stored_snapshot answer(store_data& data, restore_snapshot_request x) {
  auto [in, what] = data.find(x.target);
  check_fence(data, in.name(), x.fence);
  auto content = data.contents().load(what.content, nullptr);
  auto record = data.record_of(in, what, false);
  data.contents().switch_to(in, what.content);
  data.contents().remember(in, content);
  rules::describe(in.info, content);
  in.info.head = record.sequence;
  in.info.next_turn = next_turn_after(record);
  rules::note_turn(in.info, record.inputs);
  in.info.updated_at = caf::make_timestamp();
  data.tables().write(in);
  return stored_snapshot{std::move(record), std::move(content)};
}

stored_session answer(store_data& data, get_session_request x) {
  rules::check(x.target);
  const auto in = data.find_known(x.target);
  stored_session result;
  result.info = in.info;
  const auto with_state = x.detail == detail_level::state;
  std::optional<record_row> head;
  if (in.info.head != 0) {
    try {
      head = data.find(in, in.info.head);
      if (!head)
        rules::reject(rules::damage_of(damage_kind::missing, in, in.info.head,
                                       "is missing"));
      result.head = stored_snapshot{data.record_of(in, *head, false)};
    } catch (const status_error& error) {
      // A session can be described without its head, but not continued.
      if (error.code() != errc::data_loss || with_state)
        throw;
    }
  }
  if (!with_state)
    return result;
  result.content = data.contents().load(in.content, nullptr);
  data.contents().remember(in, result.content);
  if (head)
    result.head.content = head->content.is_same_state(in.content)
                            ? result.content
                            : data.contents().load(head->content, nullptr);
  return result;
}

} // namespace tertulia
