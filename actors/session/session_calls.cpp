// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/detail/session_calls.hpp>
#include <tertulia/output.hpp>

namespace tertulia::detail {

namespace {

/// Waits for one credit, which the awaiting coroutine then owns.
class turn_credit final : public credit_wait {
public:
  using credit_wait::credit_wait;

  void await_resume() {
    take_credit();
  }
};

using trigger_wait
  = reply_wait<snapshot_outcome, responder_actor, snapshot_trigger>;

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
  auto& owner = detail::access::owner(ctx);
  const auto& link = owner.link();
  owner.flush(); // chunks sent earlier arrive before the notice
  // Within a turn the client may have to read first; that must not time out.
  const auto within = event == snapshot_event::tool_iteration_end
                        ? caf::timespan::max()
                        : session_wait(owner);
  trigger_wait pending{link.responder, within, snapshot_trigger{event}};
  auto outcome = co_await std::move(pending);
  record_outcome(ctx, link, outcome);
  co_return std::move(outcome.id);
}

task<snapshot_id> end_conversation_turn(context ctx) {
  auto& owner = detail::access::owner(ctx);
  const auto& link = owner.link();
  if (!owner.hosted_action()->conversation()->policy.stores_turns()) {
    co_await end_turn{owner};
    send_to_session(owner, snapshot_trigger{snapshot_event::turn_end});
    co_return snapshot_id{};
  }
  co_await turn_credit{owner};
  owner.flush();
  snapshot_outcome outcome;
  try {
    trigger_wait pending{link.responder, session_wait(owner),
                         snapshot_trigger{snapshot_event::turn_end}};
    outcome = co_await std::move(pending);
  } catch (...) {
    owner.out.release(); // nothing was sent to the client
    throw;
  }
  record_outcome(ctx, link, outcome);
  co_return std::move(outcome.id);
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
