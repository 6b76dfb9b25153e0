// SPDX-License-Identifier: BSD-3-Clause

#include "connection_table.hpp"

#include <caf/actor.hpp>
#include <caf/actor_cast.hpp>
#include <caf/attachable.hpp>
#include <caf/exit_reason.hpp>
#include <caf/send.hpp>

#include <utility>

namespace tertulia::detail {

/// Removes a connection when its actor has ended: its body is gone then.
class connection_table::end_watch final : public caf::attachable {
public:
  end_watch(std::shared_ptr<connection_table> table, caf::actor_addr connection)
    : table_(std::move(table)), connection_(std::move(connection)) {}

  void actor_exited(const caf::error&, caf::execution_unit*) override {
    table_->remove(connection_);
  }

private:
  std::shared_ptr<connection_table> table_;
  caf::actor_addr connection_;
};

void connection_table::add(connection_actor connection,
                           const std::optional<caller_name>& caller) {
  auto* const actor = caf::actor_cast<caf::abstract_actor*>(connection);
  const auto address = connection.address();
  {
    const std::lock_guard guard{mutex_};
    caller_count* counted = nullptr;
    if (caller) {
      counted = &*by_caller_.try_emplace(caller->str()).first;
      ++counted->second;
    }
    entries_.emplace(address, entry{std::move(connection), counted});
  }
  actor->attach(std::make_unique<end_watch>(shared_from_this(), address));
}

std::pair<std::size_t, std::size_t>
connection_table::count(const std::optional<caller_name>& caller) const {
  const std::lock_guard guard{mutex_};
  const auto found = caller ? by_caller_.find(caller->str()) : by_caller_.end();
  return {entries_.size(), found != by_caller_.end() ? found->second : 0};
}

bool connection_table::contains(const caf::actor_addr& connection) const {
  const std::lock_guard guard{mutex_};
  return entries_.contains(connection);
}

bool connection_table::stop(caf::actor_addr desk) {
  const std::lock_guard guard{mutex_};
  desk_ = std::move(desk);
  for (const auto& [address, x] : entries_)
    caf::anon_send_exit(x.connection, caf::exit_reason::user_shutdown);
  return entries_.empty();
}

void connection_table::remove(const caf::actor_addr& connection) {
  entry removed; // is released without the lock
  const std::lock_guard guard{mutex_};
  const auto found = entries_.find(connection);
  if (found == entries_.end())
    return;
  if (auto* const counted = found->second.counted;
      counted != nullptr && --counted->second == 0 && !counted->first.empty())
    by_caller_.erase(by_caller_.find(counted->first));
  removed = std::move(found->second);
  entries_.erase(found);
  if (!entries_.empty() || !desk_)
    return;
  if (const auto desk = caf::actor_cast<caf::actor>(desk_))
    caf::anon_send_exit(desk, caf::exit_reason::user_shutdown);
}

} // namespace tertulia::detail
