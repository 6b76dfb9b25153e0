// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/detail/session_calls.hpp>
#include <tertulia/detail/snapshot_wait.hpp>
#include <tertulia/output.hpp>

namespace tertulia::detail {

namespace {

/// Records the outcome of a trigger on the span.
void record_outcome(const context& ctx, const session_link& link,
                    const snapshot_outcome& x) {
  if (x.failure != errc::ok)
    ctx.trace().add_event("snapshot not saved",
                          {{"code", to_string(x.failure)}});
  if (!x.created)
    return;
  ctx.trace().set_attribute("genkit:metadata:snapshotId", x.id.str());
  ctx.trace().set_attribute(link.kind->span_key, link.kind->agent);
}

} // namespace

task<snapshot_id> take_snapshot(context ctx, snapshot_event event) {
  snapshot_wait pending{event};
  auto outcome = co_await std::move(pending);
  record_outcome(ctx, detail::access::owner(ctx).link(), outcome);
  co_return std::move(outcome.id);
}

task<snapshot_id> end_conversation_turn(context ctx) {
  auto& owner = detail::access::owner(ctx);
  snapshot_id result;
  if (owner.hosted_action()->conversation()->policy.stores_turns())
    result = co_await take_snapshot(ctx, snapshot_event::turn_end);
  co_await end_turn{owner, &result};
  co_return std::move(result);
}

task<invocation_result> finish_invocation(context ctx) {
  auto& owner = detail::access::owner(ctx);
  invocation_result result;
  if (owner.hosted_action()->conversation()->policy.makes_snapshots())
    result.snapshot
      = co_await take_snapshot(ctx, snapshot_event::invocation_end);
  reply_wait<session_summary, session_actor, done_atom> pending{
    owner.link().session, session_wait(owner), done_atom_v};
  result.summary = co_await std::move(pending);
  co_return result;
}

} // namespace tertulia::detail
