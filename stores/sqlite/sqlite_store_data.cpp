// SPDX-License-Identifier: BSD-3-Clause

#include "sqlite_store_data.hpp"

#include <tertulia/status.hpp>
#include <tertulia/store_rules.hpp>

#include <caf/timestamp.hpp>

#include <algorithm>
#include <limits>
#include <utility>

#include "sqlite_columns.hpp"

namespace tertulia {

// -- transactions -------------------------------------------------------------

void sqlite_store_data::begin() {
  begin_.run();
}

void sqlite_store_data::commit() {
  try {
    hold_.expect_in_place();
    commit_.run();
  } catch (...) {
    roll_back();
    throw;
  }
}

void sqlite_store_data::roll_back() noexcept {
  states_.forget_all();
  listed_ = {};
  if (in_transaction())
    sqlite3_exec(db_.get(), "ROLLBACK", nullptr, nullptr, nullptr);
}

std::int64_t sqlite_store_data::written() const noexcept {
  return sqlite3_total_changes64(db_.get());
}

// -- writing ------------------------------------------------------------------

void sqlite_store_data::write(session& x) {
  const auto& info = x.info;
  const auto is_new = x.key == 0;
  if (is_new)
    x.key = next_session_.number();
  auto& statement = is_new ? insert_session_ : update_session_;
  statement
    .bind_all(x.key, info.agent, info.id.str(),
              columns::to_number(info.created_at),
              columns::to_number(info.updated_at), info.head, info.next_turn,
              x.last_sequence, info.records, x.state, info.title, info.preview,
              info.messages, info.bytes)
    .run();
  const auto hour = columns::hour_of(info.updated_at);
  if (!is_new && hour != x.updated_hour) // else its index is not touched
    update_hour_.bind_all(x.key, hour).run();
  x.updated_hour = hour;
}

void sqlite_store_data::work_on(session& x, const state& content,
                                const state_id& id, std::int64_t base) {
  const auto old = x.state;
  rules::describe(x.info, content);
  const auto kept = states_.keep(content, id, {x.key, base, old});
  x.state = kept.key;
  write(x);
  states_.remember(x.key, content.messages(), kept.messages);
  if (old != 0 && old != kept.key)
    states_.release(old);
}

void sqlite_store_data::seal(const session& in, std::uint64_t sequence) {
  seal_record_.bind_all(in.key, sequence).run();
}

void sqlite_store_data::write_labels(const session& in,
                                     const snapshot_record& x) {
  for (const auto& label : x.labels)
    insert_label_.bind_all(in.key, x.sequence, label).run();
}

session_position
sqlite_store_data::position_of(const std::optional<session>& x) {
  if (!x)
    return {};
  auto [id, type] = states_.name_of(x->state);
  return {x->info.next_turn, std::move(id), std::move(type)};
}

// -- verbs of sessions --------------------------------------------------------

save_result sqlite_store_data::answer(save_snapshot_request x) {
  rules::check(x);
  auto& saved = x.record;
  const session_ref session_key{saved.agent, saved.session};
  auto known = find(session_key);
  std::optional<entry> parent;
  if (saved.parent != 0) {
    if (known)
      parent = find(*known, saved.parent);
    if (!parent)
      rules::reject_unknown(snapshot_ref{session_key, saved.parent});
  }
  rules::check_place(x, known ? known->info.head : 0,
                     known ? known->last_sequence : 0);
  if (!x.follows.empty())
    rules::check_position(session_key, x.follows, position_of(known));
  const auto as_it_was = x.where == append_rule::as_it_was;
  if (!as_it_was && parent && parent->record.state == saved.state
      && parent->record.type == saved.type) {
    parent->record.orphaned = !is_active(*known, parent->record.sequence);
    return {std::move(parent->record), false};
  }

  const auto now = caf::make_timestamp();
  auto in = known ? std::move(*known) : session{};
  auto& info = in.info;
  if (in.key == 0) {
    info.agent = saved.agent;
    info.id = saved.session;
    info.created_at = now;
  }
  if (!as_it_was) {
    saved.sequence = in.last_sequence + 1;
    saved.index = parent ? parent->record.index + 1 : 0;
  }
  in.last_sequence = saved.sequence;
  saved.parent_id = parent ? parent->record.id : snapshot_id{};
  saved.orphaned = false;
  // A branch continues from the messages of its parent, any other record from
  // those of the session.
  auto base = in.state;
  if (parent && saved.parent != info.head) {
    if (!states_.remembers(in.key, x.content.messages(), parent->state))
      states_.forget(in.key);
    base = parent->state;
  }
  info.updated_at = now;
  info.head = saved.sequence;
  info.next_turn = next_turn_after(saved);
  ++info.records;
  work_on(in, x.content, saved.state, base);

  const auto follows = parent && saved.parent + 1 == saved.sequence;
  insert_record_.bind_all(in.key, saved.sequence, in.state, saved.parent,
                          follows ? parent->run : saved.sequence, saved.index,
                          saved.turn_index, columns::name_of(saved.event),
                          columns::to_number(saved.created_at));
  if (saved.id.str() == saved.state.str())
    insert_record_.bind_null(10);
  else
    insert_record_.bind(10, saved.id.str());
  if (saved.note.empty())
    insert_record_.bind_null(11);
  else
    insert_record_.bind(11, saved.note);
  insert_record_.run();
  if (!saved.labels.empty()) {
    write_labels(in, saved);
    seal(in, saved.sequence);
  }
  return {std::move(saved), true};
}

stored_snapshot sqlite_store_data::answer(const get_snapshot_request& x) {
  auto [in, what] = find(x.target);
  if (x.wanted == detail_level::record)
    return stored_snapshot{std::move(what.record)};
  auto content = states_.load(what.state);
  if (what.state == in.state)
    states_.remember(in.key, content, in.state);
  return stored_snapshot{std::move(what.record), std::move(content)};
}

stored_snapshot sqlite_store_data::answer(const restore_snapshot_request& x) {
  auto [in, what] = find(x.target);
  auto content = states_.load(what.state);
  const auto old = in.state;
  in.state = what.state;
  in.info.head = what.record.sequence;
  in.info.next_turn = next_turn_after(what.record);
  in.info.updated_at = caf::make_timestamp();
  rules::describe(in.info, content);
  write(in);
  states_.remember(in.key, content, in.state);
  if (old != in.state)
    states_.release(old);
  what.record.orphaned = false;
  return stored_snapshot{std::move(what.record), std::move(content)};
}

snapshot_page sqlite_store_data::answer(const list_snapshots_request& x) {
  rules::check(x.of);
  snapshot_page result;
  const auto in = find(x.of);
  if (!in)
    return result;
  const auto size = rules::page_size(x.limit);
  const auto after = columns::clamped(x.after);
  // A client that reads page after page pays for each record and state once.
  const auto is_continued = continues(*in, after);
  listed_ = {*in, 0, is_continued ? std::move(listed_.way) : active(*in, 1)};
  const auto& way = listed_.way;
  const auto is_on_the_way = [&](std::uint64_t sequence) {
    const auto found = std::lower_bound(way.begin(), way.end(), sequence,
                                        [](const stretch& y, std::uint64_t z) {
                                          return y.first > z;
                                        });
    return found != way.end() && sequence <= found->last;
  };
  auto last_state = is_continued ? states_.listed() : sqlite_states::loaded{};
  const auto read = [&](std::uint64_t first, std::uint64_t last) {
    auto rows = find_records_.bind_all(in->key, first, last).rows();
    while (result.snapshots.size() < size && rows.next()) {
      auto damaged = damage_in(*in, rows);
      if (!damaged) {
        auto next = read_entry(*in, rows);
        next.record.orphaned = !is_on_the_way(next.record.sequence);
        state content;
        if (x.wanted == detail_level::state)
          damaged = load(next, content, last_state);
        if (!damaged)
          result.snapshots.emplace_back(std::move(next.record),
                                        std::move(content));
      }
      if (damaged)
        columns::add(result.damages, std::move(*damaged));
    }
  };
  // This only checks that a further record exists: damage to it is reported on
  // the next page.
  const auto is_there = [&](std::uint64_t first, std::uint64_t last) {
    try {
      return has_record_.bind_all(in->key, first, last).rows().next();
    } catch (const status_error& error) {
      if (error.code() != errc::data_loss)
        throw;
      return true;
    }
  };
  const std::vector<stretch> all{
    {1, std::uint64_t{std::numeric_limits<std::int64_t>::max()}}};
  const auto& wanted = x.with_orphans ? all : way;
  for (auto i = wanted.rbegin(); i != wanted.rend() && !result.more; ++i) {
    if (i->last > after)
      read(std::max(i->first, after + 1), i->last);
    if (result.snapshots.size() == size) {
      const auto behind = result.snapshots.back().record.sequence + 1;
      result.more
        = i->last >= behind && is_there(std::max(i->first, behind), i->last);
    }
  }
  if (result.more)
    listed_.after = result.snapshots.back().record.sequence;
  states_.remember_listed(result.more ? last_state : sqlite_states::loaded{});
  return result;
}

bool sqlite_store_data::continues(const session& in,
                                  std::uint64_t after) const {
  const auto& last = listed_.in;
  return after != 0 && after == listed_.after && in.key == last.key
         && in.info.created_at == last.info.created_at
         && in.info.head == last.info.head
         && in.info.records == last.info.records
         && in.last_sequence == last.last_sequence;
}

std::optional<damage> sqlite_store_data::load(const entry& what, state& to,
                                              sqlite_states::loaded& last) {
  auto kind = damage_kind::corrupt;
  try {
    to = states_.load(what.state, &last);
    return std::nullopt;
  } catch (const status_error& error) {
    if (error.code() != errc::data_loss)
      throw;
  }
  sqlite_states::verifier verifier;
  try {
    kind = states_.verify(what.state, verifier).damaged.value_or(kind);
  } catch (const status_error& error) {
    if (error.code() != errc::data_loss)
      throw; // else SQLite cannot even locate it
  }
  return rules::damage_of(kind, what.record);
}

stored_session sqlite_store_data::answer(const get_session_request& x) {
  rules::check(x.target);
  const auto in = find(x.target);
  if (!in)
    rules::reject_unknown(x.target);
  stored_session result;
  result.info = in->info;
  std::optional<entry> head;
  if (in->info.head != 0) {
    try {
      head = find(*in, in->info.head);
      if (!head)
        columns::reject(columns::damage_of(damage_kind::missing, in->info,
                                           in->info.head, "is missing"));
      result.head = stored_snapshot{head->record};
    } catch (const status_error& error) {
      // A session can be described without its head, but not continued.
      if (error.code() != errc::data_loss || x.wanted == detail_level::state)
        throw;
    }
  }
  if (x.wanted == detail_level::state) {
    result.content = states_.load(in->state);
    states_.remember(in->key, result.content, in->state);
    if (head) {
      auto content
        = head->state == in->state ? result.content : states_.load(head->state);
      result.head
        = stored_snapshot{std::move(head->record), std::move(content)};
    }
  }
  return result;
}

session_info sqlite_store_data::answer(save_session_request x) {
  const auto id = rules::check(x);
  auto known = find(x.target);
  if (!x.follows.empty())
    rules::check_position(x.target, x.follows, position_of(known));
  const auto now = caf::make_timestamp();
  auto in = known ? std::move(*known) : session{};
  auto& info = in.info;
  if (in.key == 0) {
    info.agent = x.target.agent;
    info.id = x.target.id;
    info.created_at = now;
  }
  info.updated_at = now;
  info.next_turn = x.next_turn;
  work_on(in, x.content, id, in.state);
  return info;
}

} // namespace tertulia
