// SPDX-License-Identifier: BSD-3-Clause

#include "sqlite_messages.hpp"

#include <tertulia/json.hpp>
#include <tertulia/status.hpp>

#include <algorithm>
#include <string>

namespace tertulia {

namespace {

/// Key of a message: its branch in the upper bits, its position in the log in
/// the lower bits.
constexpr int position_bits = 32;
constexpr std::int64_t max_position = (std::int64_t{1} << position_bits) - 1;
constexpr std::int64_t max_branch = (std::int64_t{1} << 31) - 1;

std::int64_t key_of(std::int64_t branch, std::uint64_t position) {
  return (branch << position_bits) + static_cast<std::int64_t>(position);
}

} // namespace

// -- reading ------------------------------------------------------------------

std::optional<sqlite_messages::branch>
sqlite_messages::find_branch(std::int64_t key) {
  auto rows = find_branch_.bind(1, key).rows();
  // A parent is older than its child, so damaged keys cannot form a cycle.
  if (!rows.next() || rows.number(0) >= key)
    return std::nullopt;
  return branch{rows.number(0), rows.count(1)};
}

std::optional<std::vector<sqlite_messages::piece>>
sqlite_messages::pieces_of(place x, std::uint64_t position) {
  std::vector<piece> result;
  while (x.branch != 0 && x.length > position) {
    const auto found = find_branch(x.branch);
    if (!found || found->start >= x.length)
      return std::nullopt;
    result.push_back({x.branch, found->start, x.length});
    x = {found->parent, found->start};
  }
  std::reverse(result.begin(), result.end());
  return result;
}

std::uint64_t
sqlite_messages::for_each_text(place x,
                               const std::function<bool(std::string_view)>& fn,
                               std::uint64_t position) {
  const auto pieces = pieces_of(x, position);
  if (!pieces)
    return position;
  for (const auto& i : *pieces) {
    auto rows
      = read_.bind_all(key_of(i.branch, position), key_of(i.branch, i.last - 1))
          .rows();
    while (rows.next()) {
      if (rows.number(0) != key_of(i.branch, position))
        return position;
      ++position;
      if (!fn(rows.view(1)))
        return position;
    }
    if (position != i.last)
      return position;
  }
  return position;
}

std::uint64_t sqlite_messages::end_of(std::int64_t branch) {
  auto rows
    = end_of_branch_.bind_all(key_of(branch, 0), key_of(branch, max_position))
        .rows();
  if (rows.next() && !rows.is_null(0))
    return static_cast<std::uint64_t>(rows.number(0) & max_position) + 1;
  return 0;
}

sqlite_messages::place sqlite_messages::common(place x, place y) {
  while (x.branch != y.branch) {
    // A parent is older than its child, so the later branch cannot be an
    // ancestor.
    auto& later = x.branch > y.branch ? x : y;
    const auto found = find_branch(later.branch);
    if (!found)
      return {};
    later = {found->parent, std::min(later.length, found->start)};
  }
  x.length = x.branch != 0 ? std::min(x.length, y.length) : 0;
  return x;
}

std::uint64_t sqlite_messages::common(const ai::message_log& log,
                                      place position) {
  position.length = std::min<std::uint64_t>(position.length, log.size());
  std::string text;
  auto i = log.begin();
  std::uint64_t result = 0;
  for_each_text(position, [&](std::string_view x) {
    text.clear();
    append_json_text(text, *i);
    if (text != x)
      return false;
    ++i;
    ++result;
    return true;
  });
  return result;
}

sqlite_messages::place sqlite_messages::shorter(place x, std::uint64_t length) {
  if (length == 0)
    return {};
  if (length == x.length)
    return x;
  while (x.branch != 0) {
    const auto found = find_branch(x.branch);
    if (!found)
      return {};
    if (length > found->start)
      return {x.branch, length};
    x.branch = found->parent;
  }
  return {};
}

// -- writing ------------------------------------------------------------------

std::int64_t sqlite_messages::make_branch(place parent) {
  insert_branch_.bind_key(1, parent.branch).bind(2, parent.length).run();
  const auto result = db_.last_key();
  if (result > max_branch)
    throw status_error{errc::resource_exhausted,
                       db_.file() + ": has too many branches"};
  return result;
}

sqlite_messages::place sqlite_messages::append(place position,
                                               const ai::message_log& log) {
  if (log.size() > max_position)
    throw status_error{errc::resource_exhausted,
                       "a conversation has too many messages"};
  if (position.branch == 0)
    position.branch = make_branch({});
  std::string text;
  for (const auto& x : log.from(position.length)) {
    text.clear();
    append_json_text(text, x);
    insert_.bind_all(key_of(position.branch, position.length), text).run();
    ++position.length;
  }
  return position;
}

bool sqlite_messages::cut(place behind) {
  const auto needed = needed_of(behind.branch);
  erase({behind.branch, std::max(needed, behind.length)});
  return needed <= behind.length;
}

void sqlite_messages::release(std::int64_t branch) {
  while (branch != 0) {
    const auto needed = needed_of(branch);
    erase({branch, needed});
    if (needed != 0)
      return;
    const auto found = find_branch(branch);
    erase_branch_.bind(1, branch).run();
    branch = found ? found->parent : 0;
  }
}

std::uint64_t sqlite_messages::needed_of(std::int64_t branch) {
  auto rows = needed_of_branch_.bind(1, branch).rows();
  return rows.next() ? rows.count(0) : 0;
}

void sqlite_messages::erase(place behind) {
  erase_
    .bind_all(key_of(behind.branch, behind.length),
              key_of(behind.branch, max_position))
    .run();
}

} // namespace tertulia
