// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/action.hpp>
#include <tertulia/agent.hpp>
#include <tertulia/detail/conversation_action.hpp>
#include <tertulia/runtime.hpp>
#include <tertulia/store.hpp>

#include <memory>
#include <string>
#include <utility>
#include <vector>

// Actions on a store by key, for tools that do not know its types: each action
// answers one input with its output.

namespace tertulia::detail {

// States are returned as the type of this program, after migration.

/// Returns one snapshot of a store.
task<stored_snapshot> find_snapshot(context ctx, const session_policy& policy,
                                    snapshot_ref snapshot);

/// Makes a snapshot the head of its session.
task<stored_snapshot> restore_snapshot(context ctx,
                                       const session_policy& policy,
                                       snapshot_ref snapshot);

/// Returns a session of a store.
task<stored_session> find_session(context ctx, const session_policy& policy,
                                  session_ref session);

/// Returns all snapshots of a session in a store, requested page by page.
task<std::vector<stored_snapshot>>
find_snapshots(context ctx, const session_policy& policy, session_ref session,
               session_query query);

/// Returns a plain state as its type.
template <class State>
State state_as(const state& x) {
  auto value = x.custom();
  return value ? std::move(value).template take<State>() : State{};
}

/// Returns a snapshot with its state, which is default-constructed if the
/// content is empty.
template <class State>
snapshot<State> snapshot_as(const stored_snapshot& x) {
  return snapshot<State>{x.record, state_as<State>(x.content)};
}

/// Waits for the only input of such an action.
template <class T>
task<T> the_input(input<T> in) {
  auto result = co_await in.next();
  if (!result)
    throw status_error{errc::invalid_argument, "the action needs an input"};
  co_return std::move(*result);
}

/// Returns the session that a query means: one of the caller for whom the
/// action runs.
/// @errors throws `invalid_argument` if the query of a caller names none.
[[nodiscard]] session_id session_in(const context& ctx, const session_id& x);

/// Makes the action `/snapshot-store/<name>/getSnapshot`.
/// @tparam Snapshot its output, which `make` creates from a `stored_snapshot`.
template <class Snapshot, class Make>
std::shared_ptr<const action>
get_snapshot_action(const conversation_action& conversation, Make make) {
  return access::make_action<runtime>(
    "snapshot-store", conversation.name() + "/getSnapshot",
    [key = conversation.info()->key, policy = conversation.policy,
     make](context ctx, input<snapshot_query> in,
           output<nothing>) -> task<Snapshot> {
      const auto query = co_await the_input(in);
      snapshot_ref snapshot{key, session_in(ctx, query.session_id),
                            query.snapshot_id};
      const auto found
        = co_await find_snapshot(ctx, policy, std::move(snapshot));
      co_return make(found);
    },
    "Returns a snapshot of " + conversation.info()->key + '.');
}

/// Makes the action `/snapshot-store/<name>/restoreSnapshot`.
template <class Snapshot, class Make>
std::shared_ptr<const action>
restore_snapshot_action(const conversation_action& conversation, Make make) {
  return access::make_action<runtime>(
    "snapshot-store", conversation.name() + "/restoreSnapshot",
    [key = conversation.info()->key, policy = conversation.policy,
     make](context ctx, input<snapshot_query> in,
           output<nothing>) -> task<Snapshot> {
      const auto query = co_await the_input(in);
      snapshot_ref snapshot{key, session_in(ctx, query.session_id),
                            query.snapshot_id};
      const auto found
        = co_await restore_snapshot(ctx, policy, std::move(snapshot));
      co_return make(found);
    },
    "Makes a snapshot of " + conversation.info()->key
      + " the one from which its session continues.");
}

/// Makes the action `/snapshot-store/<name>/listSnapshots`.
template <class Snapshot, class Make>
std::shared_ptr<const action>
list_snapshots_action(const conversation_action& conversation, Make make) {
  return access::make_action<runtime>(
    "snapshot-store", conversation.name() + "/listSnapshots",
    [key = conversation.info()->key, policy = conversation.policy,
     restore = conversation.policy.restore,
     make](context ctx, input<session_query> in,
           output<nothing>) -> task<std::vector<Snapshot>> {
      auto query = co_await the_input(in);
      // If restoring makes a branch, no snapshot is out of date.
      if (restore == restore_rule::branch)
        query.include_orphaned = true;
      session_ref session{key, session_in(ctx, query.session_id)};
      const auto found
        = co_await find_snapshots(ctx, policy, std::move(session), query);
      std::vector<Snapshot> result;
      result.reserve(found.size());
      for (const auto& x : found)
        result.push_back(make(x));
      co_return result;
    },
    "Lists the snapshots of a session of " + conversation.info()->key
      + ", oldest first.");
}

/// Adds the actions on the store of a conversation of any kind.
template <class Snapshot, class Make>
void add_snapshot_actions(std::vector<std::shared_ptr<const action>>& to,
                          const conversation_action& conversation, Make make) {
  to.push_back(get_snapshot_action<Snapshot>(conversation, make));
  to.push_back(list_snapshots_action<Snapshot>(conversation, make));
  to.push_back(restore_snapshot_action<Snapshot>(conversation, make));
}

/// Adds the actions on the store of an agent. docs/genkit.md 000 §10.1.
template <class State>
void add_store_actions(std::vector<std::shared_ptr<const action>>& to,
                       const conversation_action& conversation) {
  add_snapshot_actions<snapshot<State>>(to, conversation, snapshot_as<State>);
  to.push_back(access::make_action<runtime>(
    "snapshot-store", conversation.name() + "/getSession",
    [key = conversation.info()->key, policy = conversation.policy](
      context ctx, input<session_query> in,
      output<nothing>) -> task<session_data<State>> {
      const auto query = co_await the_input(in);
      session_ref session{key, session_in(ctx, query.session_id)};
      const auto found = co_await find_session(ctx, policy, std::move(session));
      session_data<State> result;
      result.id = found.info.id;
      result.state = state_as<State>(found.content);
      result.turn_index = found.info.next_turn;
      if (found.head)
        result.last_snapshot = snapshot_as<State>(found.head);
      co_return result;
    },
    "Returns a session of " + conversation.info()->key + '.'));
}

} // namespace tertulia::detail
