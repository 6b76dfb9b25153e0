// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/bidi_action.hpp>
#include <tertulia/detail/backoff.hpp>
#include <tertulia/detail/blocking_caller.hpp>
#include <tertulia/status.hpp>

#include <caf/scoped_actor.hpp>

#include <chrono>
#include <optional>
#include <utility>

namespace tertulia::detail {

namespace {

using clock = std::chrono::steady_clock;

/// Time limit of a request about a run.
constexpr caf::timespan max_answer_wait = std::chrono::seconds{30};

} // namespace

run_info ask_run(const action_ref& of, run_verb verb, const run_id& run,
                 const session_id& session) {
  check_may_block(*of.system);
  run_info result;
  caf::error failure;
  caf::scoped_actor self{*of.system};
  self
    ->request(of.current_desk(), max_answer_wait,
              run_request{verb, run, of.key, session})
    .receive([&](run_info& x) { result = std::move(x); },
             [&](caf::error& x) { failure = std::move(x); });
  if (failure)
    raise(failure);
  return result;
}

task<run_info> ask_run(context ctx, std::shared_ptr<const action_ref> of,
                       run_verb verb, run_id run, session_id session) {
  run_request question{verb, std::move(run), of->key, std::move(session)};
  question.caller = ctx.caller();
  const auto desk = co_await find_desk(ctx, std::move(of));
  co_return co_await ctx.ask(desk, max_answer_wait, std::move(question));
}

task<front_desk_actor> find_desk(context ctx,
                                 std::shared_ptr<const action_ref> of) {
  if (!of->remote)
    co_return of->desk;
  if (!of->remote->is_lost())
    co_return of->remote->desk();
  const auto connect = [at = of->remote.get()] { return at->reconnect(); };
  for (backoff pauses{of->remote->policy(), clock::now()};;) {
    caf::error failure;
    try {
      co_return co_await ctx.run_blocking(connect);
    } catch (const status_error& x) {
      failure = to_error(x);
    }
    const auto pause = return_path::may_pass(failure)
                         ? pauses.next(clock::now())
                         : std::nullopt;
    if (!pause)
      raise(failure);
    co_await ctx.sleep(*pause);
  }
}

} // namespace tertulia::detail
