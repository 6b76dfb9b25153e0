// SPDX-License-Identifier: BSD-3-Clause

#include "tool_round.hpp"

#include <tertulia/detail/host.hpp>
#include <tertulia/detail/turnstile.hpp>
#include <tertulia/detail/withheld_error.hpp>
#include <tertulia/schema_check.hpp>
#include <tertulia/when.hpp>

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace tertulia::ai {

namespace {

/// Sends a report when those of other tools have been sent.
task<> send_progress(const generate_options* options,
                     tertulia::detail::turnstile* gate, tool_progress x) {
  model_response_chunk chunk;
  chunk.role = role::tool;
  chunk.content.push_back(progress_part(std::move(x)));
  auto passing = gate->pass();
  co_await std::move(passing);
  try {
    auto sending = options->on_chunk(std::move(chunk));
    co_await std::move(sending);
  } catch (...) {
    gate->leave();
    throw;
  }
  gate->leave();
}

const tool* find_tool(const generate_options& options,
                      const std::string& name) {
  const auto i
    = std::find_if(options.tools.begin(), options.tools.end(),
                   [&](const tool& x) { return x.info().name == name; });
  return i == options.tools.end() ? nullptr : &*i;
}

/// Runs one tool and stores its response or its question.
/// @param gate for the reports of the tools that run at the same time.
task<> run_call(context ctx, const generate_options* how, open_turn* turn,
                tool_call* call, tertulia::detail::turnstile* gate) {
  const auto& request = turn->request(*call);
  const auto* tool = find_tool(*how, request.name);
  if (tool == nullptr) {
    turn->respond(*call,
                  as_output({errc::not_found, fmt::format("there is no tool {}",
                                                          request.name)}));
    co_return;
  }
  // Models omit an input that has no members.
  auto input = request.input.is_null() ? json::object() : request.input;
  try {
    auto replies = call->replies;
    std::function<task<>(json)> hear;
    if (how->on_chunk)
      hear = [=, name = request.name, ref = request.ref](json x) {
        return send_progress(how, gate, {name, ref, std::move(x)});
      };
    auto name = how->in_session
                  ? call_id_of(detail::access::owner(ctx).link(), *turn, *call)
                  : std::string{};
    auto running = tool->call(ctx, std::move(input), std::move(replies),
                              std::move(hear), std::move(name));
    auto output = co_await std::move(running);
    turn->respond(*call, std::move(output));
  } catch (...) {
    const auto status = to_status(current_exception_to_error());
    // The cancellation of the body is not a failure of the tool.
    if (ctx.cancelled())
      throw;
    if (auto question = question_of(status)) {
      call->question = std::move(*question);
      co_return;
    }
    auto is_bad_request = false;
    if (tool->options().on_failure == tool_failure::fails_turn) {
      try { // the mistake is the model's if the tool rejects its input
        check_schema(request.input.is_null() ? json::object() : request.input,
                     tool->info().init_schema);
      } catch (const status_error&) {
        is_bad_request = true;
      }
      if (!is_bad_request)
        throw;
    }
    // The response is stored and goes to the model, which must not see the text
    // of an unexpected exception.
    turn->respond(*call, as_output(detail::withhold(
                           status, fmt::format("the tool {}", request.name),
                           *detail::access::owner(ctx).services().log)));
  }
}

} // namespace

task<bool> run_calls(context ctx, const generate_options* options,
                     open_turn* turn) {
  tertulia::detail::turnstile gate;
  std::vector<task<>> running;
  for (auto& x : turn->calls) {
    if (!std::exchange(x.due, false))
      continue;
    if (running.size() < options->max_tool_calls)
      running.push_back(run_call(ctx, options, turn, &x, &gate));
    else
      turn->respond(
        x, as_output({errc::resource_exhausted,
                      fmt::format("an answer may request at most {} tools",
                                  options->max_tool_calls)}));
  }
  const auto any = !running.empty();
  if (any) {
    auto all = when_all(std::move(running));
    co_await std::move(all);
  }
  co_return any;
}

} // namespace tertulia::ai
