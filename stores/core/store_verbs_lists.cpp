// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/status.hpp>
#include <tertulia/store_rules.hpp>

#include <algorithm>
#include <utility>

#include "row_damage.hpp"
#include "store_verbs.hpp"

namespace tertulia {

// -- snapshots ----------------------------------------------------------------

snapshot_page store_verbs::answer(const list_snapshots_request& x) {
  rules::check(x.of);
  snapshot_page result;
  auto known = find(x.of);
  if (!known)
    return result;
  const auto size = rules::page_size(x.limit);
  const auto after = std::min(x.after, rules::max_sequence);
  // A client that reads page after page pays for each record and state once.
  if (!continues(*known, after)) {
    listed_ = {*known, 0, {}, {}};
    listed_.way = active(*known, 1);
  }
  const auto& in = listed_.in;
  const auto& way = listed_.way;
  const auto is_on_the_way = [&](std::uint64_t sequence) {
    const auto found = std::lower_bound(way.begin(), way.end(), sequence,
                                        [](const stretch& y, std::uint64_t z) {
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
    if (!damaged && x.wanted == detail_level::state)
      damaged = load(in, next, content);
    if (damaged) {
      rules::add(result.damages, std::move(*damaged));
    } else {
      const auto orphaned = !is_on_the_way(next.sequence);
      auto record = next.parent != 0 && next.parent == before.sequence
                      ? record_of(in, next, &before, orphaned)
                      : record_of(in, next, orphaned);
      result.snapshots.emplace_back(std::move(record), std::move(content));
    }
    if (next.is_whole)
      before = std::move(next);
    return true;
  };
  const std::vector<stretch> all{{1, rules::max_sequence}};
  const auto& wanted = x.with_orphans ? all : way;
  try {
    for (auto i = wanted.rbegin(); i != wanted.rend() && !result.more; ++i)
      if (i->last > after)
        tables_.for_each_record(in.key, std::max(i->first, after + 1), i->last,
                                add);
  } catch (const status_error& error) {
    // Behind a full page this only matters for the next page, which reports it.
    if (error.code() != errc::data_loss || result.snapshots.size() < size)
      throw;
    result.more = true;
  }
  listed_.after = result.more ? result.snapshots.back().record.sequence : 0;
  if (!result.more)
    listed_.last = {};
  return result;
}

bool store_verbs::continues(const session_row& in, std::uint64_t after) const {
  const auto& last = listed_.in;
  return after != 0 && after == listed_.after && in.key == last.key
         && in.info.head == last.info.head
         && in.info.records == last.info.records
         && in.last_sequence == last.last_sequence;
}

std::optional<damage> store_verbs::load(const session_row& in,
                                        const record_row& what, state& to) {
  auto kind = damage_kind::corrupt;
  try {
    to = contents_.load(what.content, &listed_.last);
    return std::nullopt;
  } catch (const status_error& error) {
    if (error.code() != errc::data_loss)
      throw;
  }
  store_contents::verifier verifier;
  try {
    kind = contents_.verify(what.content, verifier).value_or(kind);
  } catch (const status_error& error) {
    if (error.code() != errc::data_loss)
      throw; // else the engine cannot even locate it
  }
  return rules::damage_of(kind, record_of(in, what, nullptr, false));
}

// -- sessions -----------------------------------------------------------------

session_page store_verbs::answer(const list_sessions_request& x) {
  rules::check(x);
  session_page result;
  const auto size = rules::page_size(x.limit);
  try {
    tables_.list_sessions(x, [&](session_row next) {
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
