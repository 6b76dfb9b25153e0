// SPDX-License-Identifier: BSD-3-Clause

#include "message_branches.hpp"

#include <tertulia/json.hpp>
#include <tertulia/status.hpp>

#include <algorithm>
#include <string>

namespace tertulia {

namespace {

/// Maximum number of messages of a log: a position has 32 bits.
constexpr std::uint64_t max_length = (std::uint64_t{1} << 32u) - 1;

} // namespace

// -- reading ------------------------------------------------------------------

std::optional<branch_row> message_branches::find(std::int64_t branch) {
  auto result = tables_.find_branch(branch);
  // A parent is older than its child, so damaged keys cannot form a cycle.
  if (result && (result->parent >= branch || result->parent < 0))
    result.reset();
  return result;
}

std::optional<std::vector<message_branches::piece>>
message_branches::pieces_of(log_place x, std::uint64_t position) {
  std::vector<piece> result;
  while (x.branch != 0 && x.length > position) {
    const auto found = find(x.branch);
    if (!found || found->start >= x.length)
      return std::nullopt;
    result.push_back({x.branch, x.length});
    x = {found->parent, found->start};
  }
  std::reverse(result.begin(), result.end());
  return result;
}

std::uint64_t
message_branches::for_each_text(log_place x,
                                const std::function<bool(std::string_view)>& fn,
                                std::uint64_t position) {
  const auto pieces = pieces_of(x, position);
  if (!pieces)
    return position;
  for (const auto& i : *pieces) {
    auto goes_on = true;
    tables_.for_each_message(i.branch, position, i.last - 1,
                             [&](std::uint64_t found, std::string_view text) {
                               goes_on = found == position;
                               if (goes_on) {
                                 ++position;
                                 goes_on = fn(text);
                               }
                               return goes_on;
                             });
    if (!goes_on || position != i.last)
      return position;
  }
  return position;
}

log_place message_branches::common(log_place x, log_place y) {
  while (x.branch != y.branch) {
    // A parent is older than its child, so the later branch cannot be an
    // ancestor.
    auto& later = x.branch > y.branch ? x : y;
    const auto found = find(later.branch);
    if (!found)
      return {};
    later = {found->parent, std::min(later.length, found->start)};
  }
  x.length = x.branch != 0 ? std::min(x.length, y.length) : 0;
  return x;
}

std::uint64_t message_branches::common(const ai::message_log& log,
                                       log_place x) {
  x.length = std::min<std::uint64_t>(x.length, log.size());
  std::string text;
  auto i = log.begin();
  std::uint64_t result = 0;
  for_each_text(x, [&](std::string_view stored) {
    text.clear();
    append_json_text(text, *i);
    if (text != stored)
      return false;
    ++i;
    ++result;
    return true;
  });
  return result;
}

log_place message_branches::shorter(log_place x, std::uint64_t length) {
  if (length == 0)
    return {};
  if (length == x.length)
    return x;
  while (x.branch != 0) {
    const auto found = find(x.branch);
    if (!found)
      return {};
    if (length > found->start)
      return {x.branch, length};
    x.branch = found->parent;
  }
  return {};
}

// -- writing ------------------------------------------------------------------

log_place message_branches::append(log_place x, const ai::message_log& log) {
  if (log.size() > max_length)
    throw status_error{errc::resource_exhausted,
                       "a conversation has too many messages"};
  std::string text;
  for (const auto& message : log.from(x.length)) {
    text.clear();
    append_json_text(text, message);
    tables_.write_message(x.branch, x.length, text);
    ++x.length;
  }
  return x;
}

} // namespace tertulia
