// SPDX-License-Identifier: BSD-3-Clause

#include "sqlite_known_logs.hpp"

#include <algorithm>
#include <iterator>

namespace tertulia {

sqlite_known_logs::sqlite_known_logs(std::size_t max_messages)
  : max_messages_(max_messages) {}

const sqlite_known_logs::known_log*
sqlite_known_logs::find(std::int64_t session) const {
  const auto i = by_session_.find(session);
  return i != by_session_.end() ? &*i->second : nullptr;
}

void sqlite_known_logs::remember(std::int64_t session,
                                 const ai::message_log& log,
                                 sqlite_log_place where) {
  auto found = by_session_.find(session);
  if (found != by_session_.end()) {
    const auto i = found->second;
    if (i->where.branch == where.branch) {
      // the usual case: the log has grown
      messages_ += log.size();
      messages_ -= i->log.size();
      i->log = log;
      i->where = where;
      logs_.splice(logs_.begin(), logs_, i);
    } else {
      erase(i);
      found = by_session_.end();
    }
  }
  if (found == by_session_.end()) {
    if (where.branch == 0)
      return;
    logs_.push_front({session, log, where});
    by_session_.emplace(session, logs_.begin());
    by_branch_.emplace(where.branch, logs_.begin());
    messages_ += log.size();
  }
  while (messages_ > max_messages_ && logs_.size() > 1)
    erase(std::prev(logs_.end()));
}

void sqlite_known_logs::forget(std::int64_t session) {
  if (const auto i = by_session_.find(session); i != by_session_.end())
    erase(i->second);
}

void sqlite_known_logs::forget_all() {
  by_branch_.clear();
  by_session_.clear();
  logs_.clear();
  messages_ = 0;
}

void sqlite_known_logs::forget_behind(sqlite_log_place x) {
  const auto [first, last] = by_branch_.equal_range(x.branch);
  for (auto i = first; i != last;) {
    const auto found = (i++)->second; // `erase` invalidates its iterator
    if (found->where.length > x.length)
      erase(found);
  }
}

void sqlite_known_logs::erase(log_list::iterator x) {
  const auto [first, last] = by_branch_.equal_range(x->where.branch);
  by_branch_.erase(
    std::find_if(first, last, [&](const auto& y) { return y.second == x; }));
  by_session_.erase(x->session);
  messages_ -= x->log.size();
  logs_.erase(x);
}

} // namespace tertulia
