// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/caller.hpp>
#include <tertulia/context.hpp>
#include <tertulia/descriptor.hpp>
#include <tertulia/detail/body_action.hpp>
#include <tertulia/detail/coroutine_kind.hpp>
#include <tertulia/detail/store_actions.hpp>
#include <tertulia/status.hpp>

#include <string>
#include <utility>

#include <fmt/format.h>

namespace tertulia::detail {

namespace {

using conversation_ptr = std::shared_ptr<const conversation_action>;

/// Kind of the actions on a store: an action answers its only input.
template <class Query>
struct store_kind {
  using in_type = Query;
  using base_type = action;

  struct body_type {
    task<payload> (*answer)(context, conversation_ptr, const store_outputs&,
                            Query);
    conversation_ptr conversation;
    store_outputs outputs;
  };

  static payload check_init(payload init, const action&) {
    return init_or_default<nothing>(std::move(init));
  }

  static task<payload> start(const body_type& body, context ctx, payload) {
    const auto in = access::make<input<Query>>(access::owner(ctx));
    auto query = co_await in.next();
    if (!query)
      throw status_error{errc::invalid_argument, "the action needs an input"};
    co_return co_await body.answer(ctx, body.conversation, body.outputs,
                                   std::move(*query));
  }
};

/// Returns the session that a query means: one of the caller for whom the
/// action runs.
/// @errors throws `invalid_argument` if the query of a caller names none.
session_ref session_in(const context& ctx,
                       const conversation_action& conversation,
                       const session_id& x) {
  const auto& key = conversation.info()->key;
  if (ctx.caller().empty())
    return {key, x};
  if (x.empty())
    throw status_error{errc::invalid_argument,
                       "$.sessionId: a caller needs to name its session"};
  return {key, session_of(ctx.caller(), x)};
}

snapshot_ref snapshot_in(const context& ctx,
                         const conversation_action& conversation,
                         const snapshot_query& x) {
  auto session = session_in(ctx, conversation, x.session_id);
  return {std::move(session.agent), std::move(session.id), x.snapshot_id};
}

// States are returned as the type of this program, after migration.

/// Gets or restores a snapshot.
template <class Request>
task<payload> ask_for_snapshot(context ctx, conversation_ptr of,
                               const store_outputs& outputs,
                               snapshot_query query) {
  const auto& policy = of->policy;
  Request question{snapshot_in(ctx, *of, query)};
  auto found
    = co_await ctx.ask(policy.store, policy.store_within, std::move(question));
  found.content = policy.schema.adopt(std::move(found.content));
  co_return outputs.snapshot(found);
}

/// Requests all snapshots of a session, page by page.
task<payload> list_snapshots(context ctx, conversation_ptr of,
                             const store_outputs& outputs,
                             session_query query) {
  const auto& policy = of->policy;
  list_snapshots_request question{session_in(ctx, *of, query.session_id)};
  // If restoring makes a branch, no snapshot is out of date.
  question.with_orphans
    = query.include_orphaned || policy.restore == restore_rule::branch;
  question.detail = detail_level::state;
  std::vector<stored_snapshot> all;
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
      all.push_back(std::move(x));
    }
  }
  co_return outputs.snapshots(all);
}

task<payload> get_session(context ctx, conversation_ptr of,
                          const store_outputs& outputs, session_query query) {
  const auto& policy = of->policy;
  get_session_request question{session_in(ctx, *of, query.session_id)};
  auto found
    = co_await ctx.ask(policy.store, policy.store_within, std::move(question));
  found.content = policy.schema.adopt(std::move(found.content));
  if (found.head)
    found.head.content = policy.schema.adopt(std::move(found.head.content));
  co_return outputs.session(found);
}

/// Makes the action `/snapshot-store/<name>/<verb>`.
template <class Query>
std::shared_ptr<const action>
store_action(const char* verb, std::string description, schema_source* output,
             typename store_kind<Query>::body_type body) {
  const auto& name = body.conversation->name();
  auto info = make_descriptor(
    "snapshot-store", name + '/' + verb, std::move(description),
    {add_schema<nothing>, add_schema<Query>, output, add_schema<nothing>});
  return make_body_action<store_kind<Query>>(std::move(body), std::move(info));
}

} // namespace

std::vector<std::shared_ptr<const action>>
with_store_actions(std::shared_ptr<const conversation_action> conversation,
                   const store_outputs& outputs) {
  std::vector<std::shared_ptr<const action>> result{conversation};
  if (!conversation->policy.store)
    return result;
  const auto& key = conversation->info()->key;
  result.push_back(store_action<snapshot_query>(
    "getSnapshot", fmt::format("Returns a snapshot of {}.", key),
    outputs.snapshot_schema,
    {ask_for_snapshot<get_snapshot_request>, conversation, outputs}));
  result.push_back(store_action<session_query>(
    "listSnapshots",
    fmt::format("Lists the snapshots of a session of {}, oldest first.", key),
    outputs.snapshots_schema, {list_snapshots, conversation, outputs}));
  result.push_back(store_action<snapshot_query>(
    "restoreSnapshot",
    fmt::format(
      "Makes a snapshot of {} the one from which its session continues.", key),
    outputs.snapshot_schema,
    {ask_for_snapshot<restore_snapshot_request>, conversation, outputs}));
  if (outputs.session != nullptr)
    result.push_back(store_action<session_query>(
      "getSession", fmt::format("Returns a session of {}.", key),
      outputs.session_schema, {get_session, conversation, outputs}));
  return result;
}

} // namespace tertulia::detail
