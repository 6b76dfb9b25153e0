// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/caller.hpp>
#include <tertulia/detail/affinity.hpp>
#include <tertulia/detail/counted_actor.hpp>
#include <tertulia/detail/front_desk.hpp>
#include <tertulia/detail/registry.hpp>
#include <tertulia/detail/timer.hpp>
#include <tertulia/detail/without_clock.hpp>
#include <tertulia/open.hpp>

#include <caf/actor_cast.hpp>
#include <caf/send.hpp>
#include <caf/stateful_actor.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "connection_state.hpp"
#include "connection_table.hpp"
#include "store_gate.hpp"
#include <fmt/format.h>
#include <spdlog/logger.h>

namespace tertulia::detail {

namespace {

class front_desk_state {
public:
  static inline const char* name = "tertulia.front_desk";

  explicit front_desk_state(front_desk_actor::pointer self) : self_(self) {}

  front_desk_state(const front_desk_state&) = delete;
  front_desk_state& operator=(const front_desk_state&) = delete;

  ~front_desk_state() {
    connections_->stop({}); // if it was killed
    for (const auto& [store, gate] : gates_)
      caf::anon_send_exit(gate, caf::exit_reason::user_shutdown);
  }

  front_desk_actor::behavior_type
  make_behavior(std::shared_ptr<environment> env) {
    env_ = std::move(env);
    self_->set_down_handler([this](caf::down_msg& x) {
      std::erase_if(gates_, [&](const auto& entry) {
        return entry.second.address() == x.source;
      });
    });
    self_->set_exit_handler([this](caf::exit_msg&) { stop(); });
    return {
      [this](open_request& x) { return admit(x); },
      [this](run_request& x) -> caf::result<run_info> {
        if (x.verb != run_verb::inspect && x.verb != run_verb::abort
            && x.verb != run_verb::await_turn_end)
          return fail(errc::invalid_argument,
                      "$.verb: is for the clients of the run");
        if (x.caller && x.session)
          x.session = session_of(x.caller, x.session);
        const auto found = x.run ? env_->runs.find(x.run, x.key)
                                 : env_->runs.find(x.key, x.session);
        if (!found)
          return ask_store(x);
        return self_->delegate(found, std::move(x));
      },
      [this](list_runs_request& x) { return list_runs(x); },
      [this](list_atom) { return action_list{env_->actions.list()}; },
      [this](caf::get_atom, const std::string& key) { return find_store(key); },
    };
  }

private:
  caf::result<open_result> admit(open_request& x) {
    auto action = env_->actions.find(x.key);
    auto reason = request_error(x);
    const auto caller = x.options.caller;
    const auto counted = caller && is_nested() ? std::nullopt : caller;
    if (!reason && caller && !caller->empty() && x.options.session)
      x.options.session = session_of(*caller, x.options.session);
    if (!reason && x.options.attach) {
      const auto& chosen = *x.options.attach;
      if (const auto run = chosen.run
                             ? env_->runs.find(chosen.run, x.key)
                             : env_->runs.find(x.key, x.options.session))
        return self_->delegate(run, std::move(x));
      if (chosen.or_open)
        x.options.attach.reset();
      else
        reason = unknown_run(chosen.run, x.options.session);
    }
    if (!reason)
      reason = open_error(x, action.get(), counted);
    if (reason) {
      // An unknown key may hold anything, so it is not logged.
      env_->log->info("{} refused: {}",
                      action ? action->info()->key : "an unknown action",
                      to_string(code_of(reason)));
      return reason;
    }
    // Lazy: it runs where its client runs, not here.
    const affinity_scope scope{affinity_of(x.client)};
    const auto connection
      = self_->spawn<caf::lazy_init>(make_connection, env_, std::move(action));
    connections_->add(connection, counted);
    // The connection itself answers, so that the answer precedes its first
    // chunk.
    return self_->delegate(connection, std::move(x));
  }

  /// Asks the store about a run that is not live here.
  caf::result<run_info> ask_store(const run_request& x) {
    const auto action = env_->actions.find(x.key);
    const auto* conversation = action ? action->conversation() : nullptr;
    if (conversation == nullptr || !conversation->policy.store)
      return unknown_run(x.run, x.session);
    auto answer = self_->make_response_promise<run_info>();
    auto report = [answer](const stored_run& found) mutable {
      run_info result;
      result.id = found.id;
      result.key = found.agent;
      result.session = found.session;
      result.status = found.status;
      answer.deliver(std::move(result));
    };
    // The store's own error names the session of a run.
    const auto refuse = [answer, x](caf::error& reason) mutable {
      answer.deliver(x.caller && code_of(reason) == errc::not_found
                       ? unknown_run(x.run, x.session)
                       : reason);
    };
    const auto ask
      = [this, refuse, store = conversation->policy.store,
         within = conversation->policy.store_within](auto question, auto next) {
          self_->request(store, for_request(within), std::move(question))
            .then(std::move(next), refuse);
        };
    const run_ref target{x.key, x.run, x.session};
    ask(get_run_request{target}, [=](const stored_run& found) mutable {
      if ((x.session && x.session != found.session)
          || (x.caller && !owns(x.caller, found.session)))
        answer.deliver(unknown_run(x.run, x.session));
      else if (x.verb == run_verb::abort)
        ask(abort_run_request{target}, report);
      else
        report(found);
    });
    return answer;
  }

  /// Lists runs: all that the store of a conversation knows, otherwise those
  /// that are live.
  caf::result<run_page> list_runs(list_runs_request& x) {
    const auto action = env_->actions.find(x.agent);
    if (!action)
      return fail(errc::not_found, no_action(x.agent));
    try {
      if (x.caller)
        check_caller(x.caller);
      if (x.caller && x.session)
        x.session = session_of(x.caller, x.session);
      const auto* conversation = action->conversation();
      if (conversation == nullptr || !conversation->policy.store)
        return env_->runs.list(x);
      auto answer = self_->make_response_promise<run_page>();
      // A store without this verb answers so.
      self_
        ->request(caf::actor_cast<managed_store>(conversation->policy.store),
                  for_request(conversation->policy.store_within), std::move(x))
        .then(
          [answer](run_page& page) mutable { answer.deliver(std::move(page)); },
          [answer](caf::error& reason) mutable { answer.deliver(reason); });
      return answer;
    } catch (const status_error& error) {
      return to_error(error);
    }
  }

  /// Returns the store of a conversation, or of all if the key is empty.
  [[nodiscard]] caf::result<caf::strong_actor_ptr>
  find_store(const std::string& key) {
    if (!env_->options.publish_stores)
      return fail(errc::permission_denied,
                  "the runtime does not publish its stores "
                  "(runtime_options::publish_stores)");
    snapshot_store found;
    for (const auto& info : env_->actions.list()) {
      if (!key.empty() && info.key != key)
        continue;
      const auto action = env_->actions.find(info.key);
      const auto* conversation = action ? action->conversation() : nullptr;
      if (conversation == nullptr || !conversation->policy.store)
        continue;
      const auto& store = conversation->policy.store;
      if (found && found != store)
        return fail(errc::failed_precondition,
                    "the conversations have several stores: name one of them");
      found = store;
    }
    if (!found)
      return fail(errc::not_found, key.empty()
                                     ? "there is no conversation with a store"
                                     : fmt::format("{} has no store", key));
    auto& gate = gates_[found.address()];
    if (!gate) {
      gate = spawn_store_gate(*self_, found);
      self_->monitor(gate); // any node may end it
    }
    return caf::actor_cast<caf::strong_actor_ptr>(gate);
  }

  /// Returns what is wrong with a request, to open or to attach; none if
  /// nothing is.
  [[nodiscard]] caf::error request_error(const open_request& x) const {
    if (stopping_)
      return fail(errc::unavailable, "the runtime is stopping");
    if (!x.client)
      return fail(errc::invalid_argument, "$.client: no chunk sink was given");
    if (x.options.input_window > max_window)
      return fail(errc::invalid_argument,
                  fmt::format("$.options.inputWindow: at most {}", max_window));
    if (x.options.chunk_window > max_window)
      return fail(errc::invalid_argument,
                  fmt::format("$.options.chunkWindow: at most {}", max_window));
    if (const std::size_t again = x.options.resume_after ? 1 : 0;
        !x.inputs.empty() && x.inputs.size() + again > x.options.input_window)
      return fail(errc::invalid_argument,
                  "$.inputs: has more than there is credit for");
    // Of several it would not be known which of them the turn has.
    if (x.options.turn && x.inputs.size() > 1)
      return fail(errc::invalid_argument,
                  "$.inputs: a turn with a name begins with one input");
    if (x.options.deadline.count() < 0)
      return fail(errc::invalid_argument, "$.options.deadline: is negative");
    if (x.options.open_within.count() < 0)
      return fail(errc::invalid_argument, "$.options.openWithin: is negative");
    if (x.options.grace.count() < 0)
      return fail(errc::invalid_argument, "$.options.grace: is negative");
    try {
      if (x.options.caller && !x.options.caller->empty())
        check_caller(*x.options.caller);
    } catch (const status_error& error) {
      return to_error(error);
    }
    return x.options.attach ? attach_error(x, *x.options.attach) : caf::none;
  }

  /// As `request_error`, for a request to attach.
  static caf::error attach_error(const open_request& x,
                                 const attachment& chosen) {
    if (!chosen.run && !x.options.session)
      return fail(errc::invalid_argument,
                  "$.options.attach: neither a run nor a session was given");
    if (chosen.or_open
        && (chosen.run || chosen.after || chosen.role == client_role::listener))
      return fail(errc::invalid_argument,
                  "$.options.attach.orOpen: a new run has no run id, no "
                  "position and no listener");
    if (!x.inputs.empty() || x.closes)
      return fail(errc::invalid_argument,
                  "$: a client that attaches sends its inputs and the close "
                  "itself");
    if (x.init && !chosen.or_open)
      return fail(errc::invalid_argument,
                  "$.init: a run that is attached to has begun");
    return caf::none;
  }

  /// Returns why a connection cannot be opened; none if it can.
  /// @param caller for whom it counts; empty if it does not.
  caf::error open_error(const open_request& x, const action* action,
                        const std::optional<caller_name>& caller) const {
    const auto [all, of_caller] = connections_->count(caller);
    if (all >= env_->options.max_connections)
      return fail(errc::resource_exhausted,
                  fmt::format("there are {} connections, which is the maximum",
                              all));
    if (caller && of_caller >= env_->options.max_connections_per_caller)
      return fail(
        errc::resource_exhausted,
        fmt::format("the caller has {} connections, which is the maximum",
                    of_caller));
    if (action == nullptr)
      return fail(errc::not_found, no_action(x.key));
    if (action->conversation() == nullptr
        && (x.options.session || x.options.snapshot))
      return fail(errc::invalid_argument,
                  fmt::format("{} has no sessions and no snapshots",
                              action->info()->key));
    return caf::none;
  }

  /// Returns whether the sender is a connection, which opens a tool for its
  /// body, for example.
  [[nodiscard]] bool is_nested() const {
    const auto& sender = self_->current_sender();
    return sender && connections_->contains(sender->address());
  }

  void stop() {
    stopping_ = true;
    if (connections_->stop(self_->address()))
      self_->quit();
  }

  static host_actor::behavior_type
  make_connection(stateful_without_clock<host_actor, connection_state>* self,
                  std::shared_ptr<environment> env,
                  std::shared_ptr<const action> action) {
    return self->state.make_behavior(std::move(env), std::move(action));
  }

  front_desk_actor::pointer self_;
  std::shared_ptr<environment> env_;
  std::shared_ptr<connection_table> connections_
    = std::make_shared<connection_table>();
  // Ways to the stores for other nodes, by store.
  std::unordered_map<caf::actor_addr, managed_store> gates_;
  bool stopping_ = false;
};

} // namespace

front_desk_actor spawn_front_desk(std::shared_ptr<environment> env) {
  auto& system = env->system;
  return system.spawn<caf::hidden>(
    [](with_counts<
         caf::stateful_actor<front_desk_state, front_desk_actor::base>>* self,
       std::shared_ptr<environment> env) {
      return self->state.make_behavior(std::move(env));
    },
    std::move(env));
}

std::shared_ptr<environment> make_environment(caf::actor_system& system,
                                              const runtime_options& options) {
  auto result = std::make_shared<environment>(system, options);
  result->timer = std::make_unique<timer>(system);
  result->desk = spawn_front_desk(result);
  return result;
}

} // namespace tertulia::detail
