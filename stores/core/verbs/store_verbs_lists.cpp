// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/status.hpp>
#include <tertulia/store_rules.hpp>

#include <algorithm>
#include <utility>

#include "contents/row_damage.hpp"
#include "store_data.hpp"

namespace tertulia {

namespace {

/// Returns whether a page follows the one that was read last, of a session
/// whose records have not changed since.
bool continues(const store_data::listing& listed, const session_row& in,
               std::uint64_t after) {
  const auto& last = listed.in;
  return after != 0 && after == listed.after && in.key == last.key
         && in.info.head == last.info.head
         && in.info.records == last.info.records
         && in.last_sequence == last.last_sequence;
}

/// Reads the state of a listed record.
/// @returns the damage, if any.
std::optional<damage> load(store_data& data, const session_row& in,
                           const record_row& what, state& to) {
  auto kind = damage_kind::corrupt;
  try {
    to = data.contents().load(what.content, &data.listed().last);
    return std::nullopt;
  } catch (const status_error& error) {
    if (error.code() != errc::data_loss)
      throw;
  }
  store_contents::verifier verifier;
  try {
    kind = data.contents().verify(what.content, verifier).value_or(kind);
  } catch (const status_error& error) {
    if (error.code() != errc::data_loss)
      throw; // else the engine cannot even locate it
  }
  return rules::damage_of(kind, data.record_of(in, what, nullptr, false));
}

} // namespace

// -- snapshots ----------------------------------------------------------------

snapshot_page answer(store_data& data, list_snapshots_request x) {
  rules::check(x.session);
  snapshot_page result;
  auto known = data.find(x.session);
  if (!known)
    return result;
  const auto size = rules::page_size(x.limit);
  const auto after = std::min(x.after, rules::max_sequence);
  // A client that reads page after page pays for each record and state once.
  if (!continues(data.listed(), *known, after)) {
    data.listed() = {*known, 0, {}, {}};
    data.listed().way = data.active(*known, 1);
  }
  const auto& in = data.listed().in;
  const auto& way = data.listed().way;
  const auto is_on_the_way = [&](std::uint64_t sequence) {
    const auto found
      = std::lower_bound(way.begin(), way.end(), sequence,
                         [](const store_data::stretch& y, std::uint64_t z) {
                           return y.first > z;
                         });
    return found != way.end() && sequence <= found->last;
  };
  record_row before;
  const auto add = [&](record_row next) {
    if (result.snapshots.size() == size) {
      result.more = true;
      return false;
    }
    auto damaged = next.is_whole ? std::optional<damage>{}
                                 : std::optional{rules::damage_of(in, next)};
    state content;
    if (!damaged && x.detail == detail_level::state)
      damaged = load(data, in, next, content);
    if (damaged) {
      rules::add(result.damages, std::move(*damaged));
    } else {
      const auto orphaned = !is_on_the_way(next.sequence);
      auto record = next.parent != 0 && next.parent == before.sequence
                      ? data.record_of(in, next, &before, orphaned)
                      : data.record_of(in, next, orphaned);
      result.snapshots.emplace_back(std::move(record), std::move(content));
    }
    if (next.is_whole)
      before = std::move(next);
    return true;
  };
  const std::vector<store_data::stretch> all{{1, rules::max_sequence}};
  const auto& wanted = x.with_orphans ? all : way;
  try {
    for (auto i = wanted.rbegin(); i != wanted.rend() && !result.more; ++i)
      if (i->last > after)
        data.tables().for_each_record(in.key, std::max(i->first, after + 1),
                                      i->last, add);
  } catch (const status_error& error) {
    // Behind a full page this only matters for the next page, which reports it.
    if (error.code() != errc::data_loss || result.snapshots.size() < size)
      throw;
    result.more = true;
  }
  data.listed().after
    = result.more ? result.snapshots.back().record.sequence : 0;
  if (!result.more)
    data.listed().last = {};
  return result;
}

// -- sessions -----------------------------------------------------------------

session_page answer(store_data& data, list_sessions_request x) {
  rules::check(x);
  session_page result;
  const auto size = rules::page_size(x.limit);
  try {
    data.tables().list_sessions(x, [&](session_row next) {
      if (result.sessions.size() == size)
        result.more = true;
      else if (next.is_whole)
        result.sessions.push_back(std::move(next.info));
      else
        rules::add(result.damages, rules::damage_of(next));
      return !result.more;
    });
  } catch (const status_error& error) {
    if (error.code() != errc::data_loss || result.sessions.size() < size)
      throw;
    result.more = true; // the next page reports the error
  }
  return result;
}

} // namespace tertulia
