// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/status.hpp>
#include <tertulia/store_rules.hpp>

#include <caf/timestamp.hpp>

#include <utility>

#include "contents/row_damage.hpp"
#include "store_data.hpp"

// Requests that manage sessions from outside.

namespace tertulia {

snapshot_record answer(store_data& data, label_snapshot_request x) {
  auto [in, what] = data.find(x.target);
  rules::relabel(what.labels, x.add, x.remove);
  data.tables().write(what);
  return data.record_of(in, what, !data.is_active(in, what.sequence));
}

snapshot_record answer(store_data& data, annotate_snapshot_request x) {
  rules::check(x);
  auto [in, what] = data.find(x.target);
  what.note = x.note;
  data.tables().write(what);
  return data.record_of(in, what, !data.is_active(in, what.sequence));
}

session_info answer(store_data& data, title_session_request x) {
  rules::check(x);
  auto in = data.find_known(x.target);
  in.info.title = x.title;
  data.tables().write(in);
  return std::move(in.info);
}

erase_result answer(store_data& data, delete_session_request x) {
  rules::check_known(x.target);
  const auto in = data.find_any(x.target); // damaged sessions, too
  if (!in)
    rules::reject_unknown(x.target);
  std::uint64_t records = 0;
  auto is_damaged = !in->is_whole;
  std::vector<content_row> states;
  std::vector<std::int64_t> values{in->content.custom, in->content.artifacts};
  data.tables().for_each_record(
    in->key, 1, rules::max_sequence, [&](record_row y) {
      ++records;
      is_damaged = is_damaged || !y.is_whole;
      values.insert(values.end(), {y.content.custom, y.content.artifacts});
      if (y.is_whole)
        states.push_back(std::move(y.content));
      return true;
    });
  data.tables().erase(*in);
  if (data.tables().fence_of(x.target) != 0)
    data.tables().erase_lease(x.target);
  data.contents().forget(in->key);
  if (is_damaged) // what a damaged row needs is unknown
    values = data.contents().values_of(in->key);
  data.sweep(in->key, {}, values);
  return {records, data.count_gone(std::move(states))};
}

session_info answer(store_data& data, copy_session_request x) {
  rules::check(x);
  auto from = data.find_known(x.from);
  auto made = from;
  std::vector<store_data::stretch> all;
  if (x.up_to == 0) {
    data.expect_all_records(from); // else the copy would hide damage
    all.push_back({1, from.last_sequence});
  } else {
    const auto tip = data.find(from, x.up_to);
    if (!tip)
      rules::reject_unknown(snapshot_ref{x.from, x.up_to});
    made.info.head = x.up_to;
    all = data.active(made, 0);
    data.expect_way(from, all);
    made.info.next_turn
      = next_turn_after(data.record_of(from, *tip, nullptr, false));
    rules::note_turn(made.info, tip->inputs);
    made.last_sequence = x.up_to;
    made.content = tip->content;
    try {
      rules::describe(made.info, data.contents().load(made.content, nullptr));
    } catch (const status_error& error) {
      if (error.code() != errc::data_loss)
        throw;
      rules::describe(made.info, {}); // its content is unknown
    }
  }
  if (data.find(x.to))
    rules::reject_existing(x.to);

  if (x.up_to == 0) {
    data.contents().seal(from);
    data.tables().write(from);
  }
  made.key = data.tables().add(x.to);
  made.info.agent = x.to.agent;
  made.info.id = x.to.id;
  made.info.created_at = caf::make_timestamp();
  made.info.updated_at = made.info.created_at;
  made.info.records = 0;
  made.sealed = session_row::not_owned;
  made.owns_custom = false;
  made.owns_artifacts = false;
  std::vector<content_row> states{made.content};
  for (auto i = all.rbegin(); i != all.rend(); ++i)
    data.tables().for_each_record(from.key, i->first, i->last,
                                  [&](record_row next) {
                                    next.session = made.key;
                                    data.tables().write(next);
                                    ++made.info.records;
                                    states.push_back(std::move(next.content));
                                    return true;
                                  });
  data.contents().share(made.key, states);
  data.tables().write(made);
  data.contents().remember_copy(from, made);
  return std::move(made.info);
}

vacuum_result answer(store_data& data, vacuum_store_request) {
  data.tables().expect_in_place();
  return data.tables().vacuum();
}

} // namespace tertulia
