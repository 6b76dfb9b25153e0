// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/detail/session_calls.hpp>
#include <tertulia/detail/snapshot_wait.hpp>
#include <tertulia/output.hpp>
#include <tertulia/span_names.hpp>
#include <tertulia/state.hpp>

#include <cstdint>
#include <utility>

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
  ctx.trace().set_attribute(span_names::snapshot, x.id.str());
  ctx.trace().set_attribute(link.kind->span_key, link.kind->agent);
}

/// Records the reason for which a turn ends.
void note_on_span(span& to, ai::finish_reason reason) {
  if (to.context() != nullptr)
    to.set_attribute(span_names::finish_reasons,
                     std::vector<std::string>{to_string(reason)});
}

/// Removes all messages but the last ones.
void keep_last_messages(state& of, std::uint64_t count) {
  const auto& all = of.messages();
  if (all.size() <= count)
    return;
  ai::message_log last;
  for (const auto& x : all.from(all.size() - count))
    last = last.with(x);
  of = of.with_messages(std::move(last));
}

task<payload> output_at_end(context ctx, payload (*output)(invocation_result)) {
  auto end = co_await finish_invocation(ctx);
  co_return output(std::move(end));
}

} // namespace

task<> patch_session(host& owner, patch_function change) {
  using get = reply_wait<session_view, session_actor, caf::get_atom>;
  using set = reply_wait<session_view, session_actor, session_edit>;
  const auto within = session_wait(owner);
  std::uint64_t tried = 0;
  for (;;) {
    auto now = co_await get{owner.link().session, within, caf::get_atom_v};
    auto edit = make_edit(owner, session_verb::set_custom,
                          change(now.content.custom()), now.version);
    set pending{owner.link().session, within, std::move(edit)};
    const auto done = co_await as_expected(std::move(pending));
    if (done)
      co_return;
    // A store may also answer `aborted`. The version is then unchanged at the
    // second attempt, and the error is raised.
    if (code_of(done.error()) != errc::aborted
        || std::exchange(tried, now.version) == now.version)
      raise(done.error());
  }
}

task<snapshot_id> take_snapshot(context ctx, snapshot_event event) {
  snapshot_wait pending{event};
  auto outcome = co_await std::move(pending);
  record_outcome(ctx, detail::access::owner(ctx).link(), outcome);
  co_return std::move(outcome.id);
}

void note_finish_reason(context ctx, ai::finish_reason reason) {
  auto& owner = detail::access::owner(ctx);
  const auto& conversation = owner.link().owner;
  if (owner.hosted_action()->conversation() != nullptr)
    owner.finish_reason = reason;
  else if (conversation)
    owner.self()->send(conversation, answer_end{reason});
}

task<snapshot_id>
end_conversation_turn(context ctx, std::optional<ai::finish_reason> reason) {
  auto& owner = detail::access::owner(ctx);
  if (reason)
    owner.finish_reason = reason;
  if (owner.finish_reason)
    note_on_span(ctx.trace(), *owner.finish_reason);
  snapshot_id result;
  if (owner.hosted_action()->conversation()->policy.stores_turns())
    result = co_await take_snapshot(ctx, snapshot_event::turn_end);
  owner.has_turn_snapshot = static_cast<bool>(result);
  co_await end_turn{owner, &result};
  co_return std::move(result);
}

task<invocation_result> finish_invocation(context ctx) {
  auto& owner = detail::access::owner(ctx);
  using wait_type = reply_wait<session_summary, session_actor, done_atom, bool>;
  const auto& session = owner.link().session;
  const auto within = session_wait(owner);
  invocation_result result;
  if (owner.has_turn_snapshot) {
    // Usually nothing has changed since then: that takes one message, not two.
    wait_type pending{session, within, done_atom_v, true};
    result.summary = co_await std::move(pending);
  }
  if (result.summary.is_final) {
    result.snapshot = result.summary.last.last_snapshot;
  } else {
    if (owner.hosted_action()->conversation()->policy.makes_snapshots())
      result.snapshot
        = co_await take_snapshot(ctx, snapshot_event::invocation_end);
    wait_type pending{session, within, done_atom_v, false};
    result.summary = co_await std::move(pending);
  }
  if (owner.output_messages > 0)
    keep_last_messages(result.summary.last.content, owner.output_messages);
  result.finish_reason = owner.last_finish_reason;
  co_return result;
}

task<payload> run_conversation(context ctx, task<> body,
                               payload (*output)(invocation_result)) {
  co_await task<>{std::move(body)};
  // A task of its own, so that an open conversation does not reserve memory for
  // the end.
  co_return co_await output_at_end(ctx, output);
}

} // namespace tertulia::detail
