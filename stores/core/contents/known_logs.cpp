// SPDX-License-Identifier: BSD-3-Clause

#include "known_logs.hpp"

namespace tertulia {

known_logs::known_logs(std::size_t max_messages)
  : max_messages_(max_messages) {}

const known_logs::known_log* known_logs::find(std::int64_t session) const {
  const auto i = by_session_.find(session);
  return i != by_session_.end() ? &*i->second : nullptr;
}

void known_logs::remember(std::int64_t session, const ai::message_log& log,
                          log_place position) {
  if (position.branch == 0) {
    forget(session);
    return;
  }
  if (const auto found = by_session_.find(session);
      found != by_session_.end()) {
    auto& known = *found->second;
    messages_ -= known.log.size();
    known.log = log;
    known.where = position;
    logs_.splice(logs_.begin(), logs_, found->second);
  } else {
    logs_.push_front({session, log, position});
    by_session_.emplace(session, logs_.begin());
  }
  messages_ += log.size();
  while (messages_ > max_messages_ && logs_.size() > 1)
    forget(logs_.back().session);
}

void known_logs::forget(std::int64_t session) {
  const auto found = by_session_.find(session);
  if (found == by_session_.end())
    return;
  messages_ -= found->second->log.size();
  logs_.erase(found->second);
  by_session_.erase(found);
}

void known_logs::forget_all() {
  by_session_.clear();
  logs_.clear();
  messages_ = 0;
}

} // namespace tertulia
