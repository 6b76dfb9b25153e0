// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/caller.hpp>
#include <tertulia/detail/store_actions.hpp>
#include <tertulia/status.hpp>

#include <utility>

namespace tertulia::detail {

session_id session_in(const context& ctx, const session_id& x) {
  if (ctx.caller().empty())
    return x;
  if (x.empty())
    throw status_error{errc::invalid_argument,
                       "$.sessionId: a caller needs to name its session"};
  return session_of(ctx.caller(), x);
}

task<stored_snapshot> find_snapshot(context ctx, const session_policy& policy,
                                    snapshot_ref snapshot) {
  auto result = co_await ctx.ask(policy.store, policy.store_within,
                                 get_snapshot_request{std::move(snapshot)});
  result.content = policy.schema.adopt(std::move(result.content));
  co_return result;
}

task<stored_snapshot> restore_snapshot(context ctx,
                                       const session_policy& policy,
                                       snapshot_ref snapshot) {
  auto result = co_await ctx.ask(policy.store, policy.store_within,
                                 restore_snapshot_request{std::move(snapshot)});
  result.content = policy.schema.adopt(std::move(result.content));
  co_return result;
}

task<stored_session> find_session(context ctx, const session_policy& policy,
                                  session_ref session) {
  auto result = co_await ctx.ask(policy.store, policy.store_within,
                                 get_session_request{std::move(session)});
  result.content = policy.schema.adopt(std::move(result.content));
  if (result.head)
    result.head.content = policy.schema.adopt(std::move(result.head.content));
  co_return result;
}

task<std::vector<stored_snapshot>>
find_snapshots(context ctx, const session_policy& policy, session_ref session,
               session_query query) {
  list_snapshots_request question{std::move(session)};
  question.with_orphans = query.include_orphaned;
  question.wanted = detail_level::state;
  std::vector<stored_snapshot> result;
  for (auto more = true; more;) {
    auto page = co_await ctx.ask(policy.store, policy.store_within, question);
    // The result cannot contain damages, and they must not be ignored.
    if (!page.damages.empty())
      throw status_error{errc::data_loss, page.damages.front().what};
    more = page.more && !page.snapshots.empty();
    if (more)
      question.after = page.snapshots.back().record.sequence;
    for (auto& x : page.snapshots) {
      x.content = policy.schema.adopt(std::move(x.content));
      result.push_back(std::move(x));
    }
  }
  co_return result;
}

} // namespace tertulia::detail
