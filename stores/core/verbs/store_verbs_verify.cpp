// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/status.hpp>
#include <tertulia/store_rules.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "contents/row_damage.hpp"
#include "store_data.hpp"
#include <fmt/format.h>

namespace tertulia {

namespace {

/// Maximum number of bytes of messages and values that are hashed for one page,
/// which only the last item may exceed: about a tenth of a second.
constexpr std::uint64_t max_verified_bytes = 32u << 20u;

/// Page of verification in progress.
struct inspection {
  verification_page page;
  std::size_t left = 0;
  store_contents::verifier states;

  /// Takes room for one more item on the page and returns whether there was
  /// any. Sets `more` if not.
  [[nodiscard]] bool take();
  void add(damage_kind kind, std::string what, state_id state = {});
};

bool inspection::take() {
  if (left == 0 || states.bytes >= max_verified_bytes) {
    page.more = true;
    return false;
  }
  --left;
  return true;
}

void inspection::add(damage_kind kind, std::string what, state_id state) {
  page.damages.emplace_back(kind, page.last, page.last_record, std::move(state),
                            std::move(what));
}

void verify_state(store_data& data, inspection& to, const content_row& x) {
  if (const auto damaged = data.contents().verify(x, to.states))
    to.add(*damaged, rules::text_of(*damaged, x.id), x.id);
}

void verify(store_data& data, inspection& to, const session_row& x) {
  const auto& info = x.info;
  ++to.page.sessions;
  to.page.last = x.name();
  to.page.last_record = 0;
  if (!x.is_whole) {
    to.add(damage_kind::corrupt, "its row is corrupt");
    return;
  }
  if (info.head != 0 && !data.find_any(x, info.head))
    to.add(damage_kind::missing,
           fmt::format("its head, record {}, is missing", info.head));
  const auto [records, last] = data.tables().count_records(x.key);
  if (records < info.records)
    to.add(damage_kind::missing,
           fmt::format("{} of its {} records are missing",
                       info.records - records, info.records));
  if (records > info.records || last > x.last_sequence)
    to.add(damage_kind::corrupt, "it has more records than it counts");
  verify_state(data, to, x.content);
}

/// Returns whether all records after a number have been verified.
bool verify_records(store_data& data, inspection& to, const session_row& x,
                    std::uint64_t after) {
  auto is_done = true;
  record_row before;
  data.tables().for_each_record(
    x.key, after + 1, rules::max_sequence, [&](record_row next) {
      is_done = to.take();
      if (!is_done)
        return false;
      ++to.page.records;
      to.page.last = x.name();
      // A damaged record must not determine where the next page begins.
      after = next.is_whole ? next.sequence : after + 1;
      to.page.last_record = after;
      if (!next.is_whole) {
        to.add(damage_kind::corrupt, "its row is corrupt");
        return true;
      }
      if (next.parent >= next.sequence)
        to.add(damage_kind::corrupt, "it is its own ancestor");
      else if (next.parent != 0 && next.parent != before.sequence
               && !data.find_any(x, next.parent))
        to.add(damage_kind::missing,
               fmt::format("its parent, record {}, is missing", next.parent));
      if (next.run == 0 || next.run > next.sequence)
        to.add(damage_kind::corrupt, "its run is invalid");
      verify_state(data, to, next.content);
      before = std::move(next);
      return true;
    });
  return is_done;
}

} // namespace

verification_page answer(store_data& data, verify_sessions_request x) {
  rules::check(x);
  inspection to;
  to.left = rules::page_size(x.limit);
  if (x.agent.empty() && x.after == session_ref{})
    data.tables().verify([&](std::string what) {
      std::replace(what.begin(), what.end(), '\n', ' ');
      to.page.damages.emplace_back(damage_kind::corrupt, session_ref{}, 0,
                                   state_id{}, std::move(what));
    });
  const auto fits = [&](const session_ref& y) {
    return (x.agent.empty() || y.agent == x.agent)
           && (x.session.empty() || y.id == x.session);
  };
  if (fits(x.after))
    if (const auto in = data.find_any(x.after);
        in
        && !verify_records(data, to, *in,
                           std::min(x.after_record, rules::max_sequence)))
      return std::move(to.page);

  if (!x.session.empty()) {
    const session_ref only{x.agent, x.session};
    if (x.after < only)
      if (const auto in = data.find_any(only); in && to.take()) {
        verify(data, to, *in);
        verify_records(data, to, *in, 0);
      }
    return std::move(to.page);
  }
  list_sessions_request all;
  all.agent = x.agent;
  all.after = x.after;
  all.updated_since = timestamp::min();
  data.tables().list_sessions(all, [&](const session_row& next) {
    if (!to.take())
      return false;
    verify(data, to, next);
    return verify_records(data, to, next, 0);
  });
  return std::move(to.page);
}

} // namespace tertulia
