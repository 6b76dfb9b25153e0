// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/detail/store_actions.hpp>

#include <iterator>

namespace tertulia::detail {

task<stored_snapshot> find_snapshot(context ctx, const session_policy& policy,
                                    snapshot_ref which) {
  co_return co_await ctx.ask(policy.store, policy.store_within,
                             get_snapshot{std::move(which)});
}

task<std::vector<stored_snapshot>>
find_snapshots(context ctx, const session_policy& policy, session_ref of,
               session_query query) {
  list_snapshots question{std::move(of)};
  question.with_orphans = query.include_orphaned;
  question.wanted = detail_level::state;
  std::vector<stored_snapshot> result;
  for (auto more = true; more;) {
    auto page = co_await ctx.ask(policy.store, policy.store_within, question);
    more = page.more && !page.snapshots.empty();
    if (more)
      question.after = page.snapshots.back().record.sequence;
    std::move(page.snapshots.begin(), page.snapshots.end(),
              std::back_inserter(result));
  }
  co_return result;
}

} // namespace tertulia::detail
