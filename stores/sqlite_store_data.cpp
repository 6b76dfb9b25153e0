// SPDX-License-Identifier: BSD-3-Clause

#include "sqlite_store_data.hpp"

#include <tertulia/status.hpp>

#include <caf/timestamp.hpp>

#include <algorithm>
#include <limits>
#include <utility>

#include "sqlite_columns.hpp"
#include "store_rules.hpp"

namespace tertulia {

// -- transactions -------------------------------------------------------------

void sqlite_store_data::begin() {
  begin_.run();
}

void sqlite_store_data::commit() {
  try {
    commit_.run();
  } catch (...) {
    roll_back();
    throw;
  }
}

void sqlite_store_data::mark() {
  changes_before_ = sqlite3_total_changes64(db_.get());
  mark_.run();
}

void sqlite_store_data::roll_back() noexcept {
  states_.forget_all();
  if (in_transaction())
    sqlite3_exec(db_.get(), "ROLLBACK", nullptr, nullptr, nullptr);
}

void sqlite_store_data::undo() noexcept {
  if (sqlite3_total_changes64(db_.get()) != changes_before_)
    states_.forget_all();
  if (!in_transaction())
    return; // SQLite has taken back all of it
  try {
    undo_.run();
    keep_.run();
  } catch (const status_error&) {
    // Nobody knows what is in the transaction now.
    roll_back();
  }
}

// -- finding ------------------------------------------------------------------

sqlite_store_data::session
sqlite_store_data::read_session(const sqlite_statement::cursor& row) {
  session result;
  result.key = row.number(0);
  result.info.agent = row.text(1);
  result.info.id = session_id{row.text(2)};
  result.info.created_at = columns::to_time(row.number(3));
  result.info.updated_at = columns::to_time(row.number(4));
  result.info.head = row.count(5);
  result.info.next_turn = row.count(6);
  result.info.records = row.count(7);
  result.last_sequence = row.count(8);
  result.state = row.number(9);
  result.info.title = row.text(10);
  result.info.preview = row.text(11);
  result.info.messages = row.count(12);
  result.info.bytes = row.count(13);
  result.is_whole = row.number(14) != 0;
  return result;
}

std::optional<sqlite_store_data::session>
sqlite_store_data::find_any(const session_ref& x) {
  auto rows = find_session_.bind(1, x.agent).bind(2, x.id.str()).rows();
  if (!rows.next())
    return std::nullopt;
  auto result = read_session(rows);
  if (result.info.agent != x.agent || result.info.id != x.id) {
    result.info.agent = x.agent;
    result.info.id = x.id;
    columns::reject(columns::damage_of(result.info));
  }
  return result;
}

std::optional<sqlite_store_data::session>
sqlite_store_data::find(const session_ref& x) {
  auto result = find_any(x);
  if (result && !result->is_whole)
    columns::reject(columns::damage_of(result->info));
  return result;
}

std::optional<damage>
sqlite_store_data::damage_in(const session& in,
                             const sqlite_statement::cursor& row) {
  const auto because = [&](damage_kind kind, const char* what) {
    return columns::damage_of(kind, in.info, row.count(0), what);
  };
  if (row.number(15) == 0 || !columns::to_event(row.view(4)))
    return because(damage_kind::corrupt, "is corrupt");
  if (row.is_null(9))
    return because(damage_kind::missing, "refers to a state that is missing");
  if (row.number(16) == 0 || !columns::type_of(row.view(13), row.number(14)))
    return because(damage_kind::corrupt, "refers to a state that is corrupt");
  return std::nullopt;
}

sqlite_store_data::entry
sqlite_store_data::read_entry(const session& in,
                              const sqlite_statement::cursor& row) {
  if (const auto damaged = damage_in(in, row))
    columns::reject(*damaged);
  entry result;
  auto& x = result.record;
  x.agent = in.info.agent;
  x.session = in.info.id;
  x.sequence = row.count(0);
  x.state = state_id{columns::hex_of_bytes(row.view(9))};
  x.type = columns::type_of(row.view(13), row.number(14)).value();
  x.id = columns::id_of(row.view(6), row.view(9));
  x.parent = row.count(1);
  if (row.number(17) != 0) // or nobody knows what its parent is
    x.parent_id = columns::id_of(row.view(10), row.view(11));
  x.index = row.count(2);
  x.turn_index = row.count(3);
  x.event = columns::to_event(row.view(4)).value();
  x.created_at = columns::to_time(row.number(5));
  result.run = row.count(7);
  result.state = row.number(8);
  x.note = row.text(12);
  auto labels = labels_of_.bind(1, in.key).bind(2, x.sequence).rows();
  while (labels.next())
    x.labels.push_back(labels.text(0));
  return result;
}

std::optional<sqlite_store_data::entry>
sqlite_store_data::find(const session& in, std::uint64_t sequence) {
  auto rows
    = find_record_.bind(1, in.key).bind(2, columns::clamped(sequence)).rows();
  if (rows.next())
    return read_entry(in, rows);
  if (sequence <= in.last_sequence)
    expect_all_records(in);
  return std::nullopt;
}

void sqlite_store_data::expect_all_records(const session& in) {
  auto rows = count_whole_.bind(1, in.key).rows();
  const auto whole = rows.next() ? rows.count(0) : 0;
  if (whole != in.info.records)
    columns::reject(columns::damage_of(
      damage_kind::corrupt, in.info, 0,
      "has " + std::to_string(in.info.records) + " records, of which "
        + std::to_string(whole) + " can be read"));
}

std::optional<sqlite_store_data::entry>
sqlite_store_data::find(const session& in, const snapshot_id& id) {
  std::uint64_t newest = 0;
  const auto state = columns::bytes_of_hex(id.str());
  auto rows
    = find_id_.bind(1, in.key).bind(2, id.str()).bind_blob(3, state).rows();
  while (rows.next()) {
    const auto sequence = rows.count(0);
    const auto active = is_active(in, sequence);
    if (newest == 0 || active)
      newest = sequence;
    if (active)
      break;
  }
  if (newest != 0) {
    auto result = find(in, newest);
    if (result && result->record.id != id)
      columns::reject(
        columns::damage_of(in.info)); // an index says what the record does not
    return result;
  }
  expect_all_records(in); // it might be one that nobody can read
  return std::nullopt;
}

sqlite_store_data::found sqlite_store_data::find(const snapshot_ref& x) {
  rules::check(x);
  if (!x.session.empty()) {
    auto in = find(session_ref{x.agent, x.session});
    if (!in)
      rules::reject_unknown(x);
    auto what = x.sequence != 0 ? find(*in, x.sequence) : find(*in, x.id);
    if (!what || (!x.id.empty() && what->record.id != x.id))
      rules::reject_unknown(x);
    what->record.orphaned = !is_active(*in, what->record.sequence);
    return {std::move(*in), std::move(*what)};
  }

  std::vector<session> sessions;
  {
    const auto state = columns::bytes_of_hex(x.id.str());
    std::vector<std::int64_t> keys;
    {
      auto rows = find_sessions_with_id_.bind(1, x.agent)
                    .bind(2, x.id.str())
                    .bind_blob(3, state)
                    .bind(4, std::uint64_t{rules::named_sessions + 1})
                    .rows();
      while (rows.next())
        keys.push_back(rows.number(0));
    }
    for (const auto key : keys)
      if (auto rows = read_session_.bind(1, key).rows(); rows.next()) {
        sessions.push_back(read_session(rows));
        if (!sessions.back().is_whole)
          columns::reject(columns::damage_of(sessions.back().info));
      }
  }
  if (sessions.size() > 1) {
    std::vector<std::string> names;
    names.reserve(sessions.size());
    for (const auto& in : sessions)
      names.push_back(in.info.id.str());
    rules::reject_ambiguous(x, std::move(names));
  }
  auto what = sessions.empty() ? std::nullopt : find(sessions.front(), x.id);
  if (!what)
    rules::reject_unknown(x);
  what->record.orphaned = !is_active(sessions.front(), what->record.sequence);
  return {std::move(sessions.front()), std::move(*what)};
}

// -- what is active -----------------------------------------------------------

std::vector<sqlite_store_data::stretch>
sqlite_store_data::active(const session& x, std::uint64_t until) {
  std::vector<stretch> result;
  auto last = x.info.head;
  while (last != 0) {
    // Where the way is damaged nobody knows how it goes on: what lies below
    // counts as active, because damage to one record must not hide another.
    stretch next{1, last};
    if (auto rows = run_of_.bind(1, x.key).bind(2, last).rows();
        rows.next() && rows.number(1) != 0)
      next.first = std::clamp<std::uint64_t>(rows.count(0), 1, last);
    result.push_back(next);
    if (next.first <= until)
      break;
    // Whoever is the first of the run by now knows where it hangs.
    auto rows = parent_of_.bind(1, x.key).bind(2, next.first).rows();
    last = next.first - 1;
    if (rows.next() && rows.number(1) != 0)
      last = std::min(rows.count(0), last);
  }
  return result;
}

bool sqlite_store_data::is_active(const session& x, std::uint64_t sequence) {
  if (x.info.head == 0)
    return false;
  const auto last = active(x, sequence).back();
  return last.first <= sequence && sequence <= last.last;
}

// -- writing ------------------------------------------------------------------

void sqlite_store_data::write(session& x) {
  const auto& info = x.info;
  if (x.key != 0) {
    update_session_.bind(1, x.key)
      .bind(2, columns::to_number(info.updated_at))
      .bind(3, info.head)
      .bind(4, info.next_turn)
      .bind(5, info.records)
      .bind(6, x.last_sequence)
      .bind(7, x.state)
      .bind(8, info.title)
      .bind(9, info.preview)
      .bind(10, info.messages)
      .bind(11, info.bytes)
      .run();
    seal_session_.bind(1, x.key).run();
    return;
  }
  insert_session_.bind(1, info.agent)
    .bind(2, info.id.str())
    .bind(3, columns::to_number(info.created_at))
    .bind(4, columns::to_number(info.updated_at))
    .bind(5, info.head)
    .bind(6, info.next_turn)
    .bind(7, info.records)
    .bind(8, x.last_sequence)
    .bind(9, x.state)
    .bind(10, info.title)
    .bind(11, info.preview)
    .bind(12, info.messages)
    .bind(13, info.bytes)
    .run();
  x.key = db_.last_key();
  seal_session_.bind(1, x.key).run();
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
  seal_record_.bind(1, in.key).bind(2, sequence).run();
}

void sqlite_store_data::write_labels(const session& in,
                                     const snapshot_record& x) {
  for (const auto& label : x.labels)
    insert_label_.bind(1, in.key).bind(2, x.sequence).bind(3, label).run();
}

// -- verbs of sessions --------------------------------------------------------

saved_snapshot sqlite_store_data::save(save_snapshot x) {
  rules::check(x);
  auto& made = x.record;
  const session_ref where{made.agent, made.session};
  auto known = find(where);
  std::optional<entry> parent;
  if (made.parent != 0) {
    if (known)
      parent = find(*known, made.parent);
    if (!parent)
      rules::reject_unknown(snapshot_ref{where, made.parent});
  }
  rules::check_place(x, known ? known->info.head : 0,
                     known ? known->last_sequence : 0);
  const auto as_it_was = x.where == append_rule::as_it_was;
  if (!as_it_was && parent && parent->record.state == made.state
      && parent->record.type == made.type) {
    parent->record.orphaned = !is_active(*known, parent->record.sequence);
    return {std::move(parent->record), false};
  }

  const auto now = caf::make_timestamp();
  auto in = known ? std::move(*known) : session{};
  auto& info = in.info;
  if (in.key == 0) {
    info.agent = made.agent;
    info.id = made.session;
    info.created_at = now;
  }
  if (!as_it_was) {
    made.sequence = in.last_sequence + 1;
    made.index = parent ? parent->record.index + 1 : 0;
  }
  in.last_sequence = made.sequence;
  made.parent_id = parent ? parent->record.id : snapshot_id{};
  made.orphaned = false;
  // Who branches off goes on from the messages that the parent has; everybody
  // else from those of the session.
  auto base = in.state;
  if (parent && made.parent != info.head) {
    states_.forget(in.key);
    base = parent->state;
  }
  info.updated_at = now;
  info.head = made.sequence;
  info.next_turn = next_turn_after(made);
  ++info.records;
  work_on(in, x.content, made.state, base);

  const auto follows = parent && made.parent + 1 == made.sequence;
  insert_record_.bind(1, in.key)
    .bind(2, made.sequence)
    .bind(3, in.state)
    .bind(4, made.parent)
    .bind(5, follows ? parent->run : made.sequence)
    .bind(6, made.index)
    .bind(7, made.turn_index)
    .bind(8, columns::name_of(made.event))
    .bind(9, columns::to_number(made.created_at));
  if (made.id.str() == made.state.str())
    insert_record_.bind_null(10);
  else
    insert_record_.bind(10, made.id.str());
  if (made.note.empty())
    insert_record_.bind_null(11);
  else
    insert_record_.bind(11, made.note);
  insert_record_.run();
  write_labels(in, made);
  seal(in, made.sequence);
  return {std::move(made), true};
}

stored_snapshot sqlite_store_data::get(const get_snapshot& x) {
  auto [in, what] = find(x.which);
  if (x.wanted == detail_level::record)
    return stored_snapshot{std::move(what.record)};
  auto content = states_.load(what.state);
  if (what.state == in.state)
    states_.remember(in.key, content, in.state);
  return stored_snapshot{std::move(what.record), std::move(content)};
}

stored_snapshot sqlite_store_data::restore(const restore_snapshot& x) {
  auto [in, what] = find(x.which);
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

snapshot_page sqlite_store_data::list(const list_snapshots& x) {
  rules::check(x.of);
  snapshot_page result;
  const auto in = find(x.of);
  if (!in)
    return result;
  const auto size = rules::page_size(x.limit);
  const auto after = columns::clamped(x.after);
  const auto way = active(*in, after + 1);
  const auto is_on_the_way = [&](std::uint64_t sequence) {
    return std::any_of(way.begin(), way.end(), [&](const stretch& y) {
      return y.first <= sequence && sequence <= y.last;
    });
  };
  std::vector<std::int64_t> states;
  // One more than the page has says that there are more.
  const auto read = [&](std::uint64_t first, std::uint64_t last) {
    auto rows
      = find_records_.bind(1, in->key).bind(2, first).bind(3, last).rows();
    while (result.snapshots.size() <= size && rows.next()) {
      if (auto damaged = damage_in(*in, rows)) {
        columns::add(result.damages, std::move(*damaged));
        continue;
      }
      auto next = read_entry(*in, rows);
      next.record.orphaned = !is_on_the_way(next.record.sequence);
      states.push_back(next.state);
      result.snapshots.emplace_back(std::move(next.record));
    }
  };
  if (x.with_orphans) {
    read(after + 1, std::numeric_limits<std::int64_t>::max());
  } else {
    for (auto i = way.rbegin();
         i != way.rend() && result.snapshots.size() <= size; ++i)
      if (i->last > after)
        read(std::max(i->first, after + 1), i->last);
  }
  if (result.snapshots.size() > size) {
    result.more = true;
    result.snapshots.pop_back();
  }
  if (x.wanted == detail_level::state) {
    sqlite_states::loaded last;
    for (std::size_t i = 0; i < result.snapshots.size(); ++i)
      result.snapshots[i].content = states_.load(states[i], &last);
  }
  return result;
}

stored_session sqlite_store_data::get(const get_session& x) {
  rules::check(x.which);
  const auto in = find(x.which);
  if (!in)
    rules::reject_unknown(x.which);
  stored_session result;
  result.info = in->info;
  std::optional<entry> head;
  if (in->info.head != 0) {
    head = find(*in, in->info.head);
    if (!head)
      columns::reject(columns::damage_of(damage_kind::missing, in->info,
                                         in->info.head, "is missing"));
    result.head = stored_snapshot{head->record};
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

session_info sqlite_store_data::save(save_session x) {
  rules::check(x);
  const auto now = caf::make_timestamp();
  auto in = find(x.which).value_or(session{});
  auto& info = in.info;
  if (in.key == 0) {
    info.agent = x.which.agent;
    info.id = x.which.id;
    info.created_at = now;
  }
  info.updated_at = now;
  info.next_turn = x.next_turn;
  work_on(in, x.content, x.content.id(), in.state);
  return info;
}

} // namespace tertulia
