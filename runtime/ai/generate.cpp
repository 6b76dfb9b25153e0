// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/ai/generate.hpp>
#include <tertulia/detail/host.hpp>
#include <tertulia/detail/streamed_answer.hpp>
#include <tertulia/schema_check.hpp>
#include <tertulia/trigger_snapshot.hpp>
#include <tertulia/when.hpp>

#include <algorithm>
#include <functional>

#include "answer_value.hpp"
#include "open_turn.hpp"
#include "tool_round.hpp"
#include <fmt/format.h>

namespace tertulia::ai {

namespace {

// -- the conversation ---------------------------------------------------------

message_log messages_of(const session_view& x) {
  return x.content.messages();
}

auto session_messages(const context& ctx) {
  return detail::ask_session(detail::access::owner(ctx), messages_of);
}

/// Adds new messages to the conversation, which is that of the session if there
/// is one.
task<message_log> add(context ctx, const generate_options* options,
                      message_log all, std::vector<message> added) {
  if (!options->in_session)
    co_return all.with(std::move(added));
  const auto& owner = detail::access::owner(ctx);
  auto edit = detail::make_edit(owner, session_verb::add_messages,
                                payload::of(std::move(added)));
  edit.with_content = true; // tools may have added messages as well
  auto pending = detail::edit_session(owner, std::move(edit), messages_of);
  co_return co_await std::move(pending);
}

/// Replaces the messages of the session, if there is one. Messages that tools
/// have added to it since `old` stay at the end.
task<message_log> replace(context ctx, const generate_options* options,
                          message_log old, message_log now) {
  if (!options->in_session)
    co_return now;
  const auto present = co_await session_messages(ctx);
  if (!present.same_as(old) && present.shared_with(old) == old.size()) {
    const auto added = present.from(old.size());
    now = now.with({added.begin(), added.end()});
  }
  co_await detail::edit_session(detail::access::owner(ctx),
                                session_verb::set_messages, payload::of(now));
  co_return now;
}

task<> send_parts(const generate_options* options, role who,
                  std::vector<part> what) {
  if (!options->on_chunk || what.empty())
    co_return;
  model_response_chunk chunk;
  chunk.role = who;
  for (auto& x : what)
    chunk.content.push_back(std::move(x));
  auto sending = options->on_chunk(std::move(chunk));
  co_await std::move(sending);
}

// -- the loop -----------------------------------------------------------------

class generator {
public:
  explicit generator(generate_options options) : options_(std::move(options)) {
    for (const auto& x : options_.tools)
      definitions_.push_back(x.definition());
  }

  /// Generates, and notes in a session why the last answer ended.
  task<generation> run(context ctx) {
    number_chunks();
    co_await work(ctx);
    if (const auto& reason = result_.response.finish_reason;
        reason && options_.in_session)
      detail::note_finish_reason(ctx, *reason);
    co_return std::move(result_);
  }

private:
  /// Makes each chunk say to which message of the answer it belongs: models
  /// know only the one that they make.
  void number_chunks() {
    if (!options_.on_chunk)
      return;
    options_.on_chunk
      = [this, send = std::move(options_.on_chunk)](model_response_chunk x) {
          x.index = shown_;
          return send(std::move(x));
        };
  }

  task<> work(context ctx) {
    if (options_.in_session) {
      if (!options_.messages.empty() || !options_.user_messages.empty())
        throw status_error{errc::invalid_argument,
                           "with_session cannot be combined with messages"};
      result_.messages = co_await session_messages(ctx);
    } else {
      result_.messages
        = options_.messages.with(std::move(options_.user_messages));
    }
    if (auto open = find_open_turn(result_.messages)) {
      const auto old = result_.messages;
      const auto ran = co_await run_calls(ctx, &options_, &*open);
      auto last = open->waits() ? open->waiting_answer() : open->final_answer();
      auto now = open->before.with(last);
      if (!open->waits())
        now = now.with(open->responses());
      now = now.with(std::move(open->rest));
      result_.messages = co_await replace(ctx, &options_, old, std::move(now));
      if (open->waits()) {
        co_await interrupt(std::move(last));
        co_return;
      }
      co_await finish_round(ctx, *open, ran);
    }
    while (result_.iterations < options_.max_iterations)
      if (co_await answer(ctx))
        co_return;
    throw status_error{errc::resource_exhausted,
                       fmt::format("the model {} {} answers",
                                   corrections_.empty()
                                     ? "still requests tools after"
                                     : "has not returned a valid answer in",
                                   options_.max_iterations)};
  }

  /// Sends one request to the model and runs the tools that its answer
  /// requests.
  /// @returns whether the generation is over.
  task<bool> answer(context ctx) {
    detail::streamed_answer streamed;
    auto asking = options_.model(ctx, request(), chunk_recorder(streamed));
    result_.response = co_await std::move(asking);
    ++result_.iterations;
    if (const auto& cost = result_.response.usage) {
      result_.usage.input_tokens += cost->input_tokens;
      result_.usage.output_tokens += cost->output_tokens;
      result_.usage.total_tokens += cost->total_tokens;
    }
    if (is_refusal())
      add_refusal_text();
    if (!result_.response.message)
      co_return true;
    auto turn = new_turn(result_.messages, *result_.response.message);
    if (options_.on_chunk)
      if (auto rest = streamed.rest_of(turn.answer)) {
        auto hearing = options_.on_chunk(std::move(*rest));
        co_await std::move(hearing);
      }
    ++shown_;
    std::vector<message> added;
    if (turn.calls.empty()) {
      if (!parse_output(turn.answer))
        co_return false;
      added.push_back(std::move(turn.answer));
      result_.messages
        = co_await add(ctx, &options_, result_.messages, std::move(added));
      co_return true;
    }
    corrections_.clear();
    const auto ran = co_await run_calls(ctx, &options_, &turn);
    if (turn.waits()) {
      auto last = turn.waiting_answer();
      added.push_back(last);
      result_.messages
        = co_await add(ctx, &options_, result_.messages, std::move(added));
      co_await interrupt(std::move(last));
      co_return true;
    }
    // Both messages are added in one step, so that a request is never stored
    // without its response.
    added.push_back(turn.final_answer());
    added.push_back(turn.responses());
    result_.messages
      = co_await add(ctx, &options_, result_.messages, std::move(added));
    co_await finish_round(ctx, turn, ran);
    co_return false;
  }

  /// Returns whether the model refuses to answer and gives a reason. Returns
  /// false if an output schema is set, because a reason is not a value.
  [[nodiscard]] bool is_refusal() const {
    return result_.response.finish_reason == finish_reason::blocked
           && !result_.response.finish_message.empty()
           && options_.output_schema.is_null();
  }

  /// Adds the reason of a refusal to the message of the model, so that users
  /// and later requests see it.
  void add_refusal_text() {
    auto& message = result_.response.message;
    if (!message)
      message.emplace().role = role::model;
    message->content.push_back(part::text(result_.response.finish_message));
  }

  /// Returns a callback that forwards the chunks of the model and records them
  /// in `to`.
  /// @lifetime `to` outlives the result.
  [[nodiscard]] chunk_callback
  chunk_recorder(detail::streamed_answer& to) const {
    if (!options_.on_chunk)
      return {};
    return [this, &to](model_response_chunk x) {
      to.add(x);
      return options_.on_chunk(std::move(x));
    };
  }

  [[nodiscard]] generate_request request() const {
    generate_request result{corrections_.empty()
                              ? result_.messages
                              : result_.messages.with(corrections_),
                            options_.system};
    result.tools = definitions_;
    result.tool_choice = options_.tool_choice;
    if (result_.iterations > 0 && options_.tool_choice == tool_choice::required)
      result.tool_choice = tool_choice::automatic;
    result.config = options_.config;
    result.output_schema = options_.output_schema;
    return result;
  }

  /// Parses the answer according to the output schema.
  /// @returns false if the model has to answer again.
  bool parse_output(const message& x) {
    if (options_.output_schema.is_null())
      return true;
    try {
      result_.output = read_answer(x, options_.output_schema);
      return true;
    } catch (const status_error& wrong) {
      if (wrong.code() != errc::invalid_argument)
        throw;
      if (options_.repairs == 0)
        throw status_error{
          errc::invalid_argument,
          fmt::format("the answer of the model does not fit the schema: {}",
                      wrong.message()),
          wrong.details()};
      --options_.repairs;
      corrections_ = correction(x, wrong);
      return false;
    }
  }

  /// Ends a round of tool calls: sends the responses to the client, and may
  /// store a snapshot.
  task<> finish_round(context ctx, const open_turn& turn, bool ran) {
    co_await send_parts(&options_, role::tool, turn.responses().content);
    ++shown_;
    if (ran)
      co_await trigger_snapshot(ctx, snapshot_event::tool_iteration_end);
  }

  task<> interrupt(message last) {
    co_await send_parts(&options_, role::model, interrupts_in(last.content));
    result_.response.message = std::move(last);
    result_.response.finish_reason = finish_reason::interrupted;
  }

  generate_options options_;
  std::vector<tool_definition> definitions_;
  /// Wrong answer and the request for its correction, until the model answers
  /// as required. Only the model needs to see them.
  std::vector<message> corrections_;
  /// Number of messages whose chunks were sent.
  std::int64_t shown_ = 0;
  generation result_;
};

} // namespace

} // namespace tertulia::ai

namespace tertulia::detail {

task<ai::generation> run_generation(context ctx, ai::generate_options options) {
  ai::generator work{std::move(options)};
  auto run
    = ctx.run_step("generate", [&](context inner) { return work.run(inner); });
  co_return co_await std::move(run);
}

json output_of(ai::generation&& x) {
  if (x.response.finish_reason == ai::finish_reason::interrupted)
    throw ai::interrupt_error("a tool of the answer");
  if (!x.response.message)
    throw status_error{errc::failed_precondition,
                       fmt::format("the model returned no message: {}",
                                   x.response.finish_message)};
  return std::move(x.output);
}

} // namespace tertulia::detail
