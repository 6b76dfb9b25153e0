// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/ai/generate.hpp>
#include <tertulia/detail/host.hpp>
#include <tertulia/detail/streamed_answer.hpp>
#include <tertulia/detail/withheld_error.hpp>
#include <tertulia/responder.hpp>
#include <tertulia/schema_check.hpp>
#include <tertulia/when.hpp>

#include <algorithm>
#include <optional>
#include <string_view>

#include "open_turn.hpp"

namespace tertulia::ai {

void with_tools::apply(generate_options& to) const {
  for (const auto& x : tools) {
    for (const auto& other : to.tools)
      if (other.info().name == x.info().name)
        throw status_error{errc::invalid_argument,
                           "two tools are called " + x.info().name};
    to.tools.push_back(x);
  }
}

namespace {

// -- the conversation ---------------------------------------------------------

task<message_log> session_messages(context ctx) {
  co_return co_await detail::ask_session(detail::access::owner(ctx),
                                         [](const session_view& x) {
                                           return x.content.messages();
                                         });
}

/// Adds new messages to the conversation, which is that of the session if there
/// is one.
task<message_log> add(context ctx, const generate_options* how, message_log all,
                      std::vector<message> said) {
  if (!how->in_session)
    co_return all.with(std::move(said));
  co_await detail::edit_session(detail::access::owner(ctx),
                                session_verb::add_messages,
                                payload::of(std::move(said)));
  // Tools may have added messages as well.
  co_return co_await session_messages(ctx);
}

/// Replaces the messages of the session, if there is one. Messages that tools
/// have added to it since `old` stay at the end.
task<message_log> replace(context ctx, const generate_options* how,
                          message_log old, message_log now) {
  if (!how->in_session)
    co_return now;
  const auto present = co_await session_messages(ctx);
  if (!present.same_as(old) && present.shared_with(old) == old.size()) {
    std::vector<message> added;
    for (const auto& x : present.from(old.size()))
      added.push_back(x);
    now = now.with(std::move(added));
  }
  co_await detail::edit_session(detail::access::owner(ctx),
                                session_verb::set_messages, payload::of(now));
  co_return now;
}

task<> say(const generate_options* how, role who, std::vector<part> what) {
  if (!how->hear || what.empty())
    co_return;
  model_response_chunk chunk;
  chunk.role = who;
  for (auto& x : what)
    chunk.content.push_back(std::move(x));
  auto sending = how->hear(std::move(chunk));
  co_await std::move(sending);
}

// -- tools --------------------------------------------------------------------

const tool* find_tool(const generate_options& how, const std::string& name) {
  const auto i
    = std::find_if(how.tools.begin(), how.tools.end(),
                   [&](const tool& x) { return x.info().name == name; });
  return i == how.tools.end() ? nullptr : &*i;
}

/// Runs one tool and stores its response or its question.
task<> run_call(context ctx, const generate_options* how, open_turn* turn,
                tool_call* call) {
  const auto& request = turn->request(*call);
  const auto* what = find_tool(*how, request.name);
  if (what == nullptr) {
    turn->respond(
      *call, as_output({errc::not_found, "there is no tool " + request.name}));
    co_return;
  }
  // Models omit an input that has no members.
  auto input = request.input.is_null() ? json::object() : request.input;
  try {
    auto said = call->said;
    auto output = co_await what->run(ctx, std::move(input), std::move(said));
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
    auto own_mistake = false;
    if (what->options().on_failure == tool_failure::fails_turn) {
      try { // the mistake is the model's if the tool rejects its input
        check_schema(request.input.is_null() ? json::object() : request.input,
                     what->info().init_schema);
      } catch (const status_error&) {
        own_mistake = true;
      }
      if (!own_mistake)
        throw;
    }
    // The response is stored and goes to the model, which must not see the text
    // of an unexpected exception.
    turn->respond(*call, as_output(detail::withhold(
                           status, "the tool " + request.name,
                           *detail::access::owner(ctx).services().log)));
  }
}

/// Runs the due tools concurrently.
/// @returns whether any tool was run.
task<bool> run_calls(context ctx, const generate_options* how,
                     open_turn* turn) {
  std::vector<task<>> running;
  for (auto& x : turn->calls) {
    if (!std::exchange(x.due, false))
      continue;
    if (running.size() < how->max_tool_calls)
      running.push_back(run_call(ctx, how, turn, &x));
    else
      turn->respond(x, as_output({errc::resource_exhausted,
                                  "an answer may ask for "
                                    + std::to_string(how->max_tool_calls)
                                    + " tools at most"}));
  }
  const auto any = !running.empty();
  if (any) {
    auto all = when_all(std::move(running));
    co_await std::move(all);
  }
  co_return any;
}

// -- answers ------------------------------------------------------------------

/// Removes the code fences that models often put around JSON.
std::string_view without_fences(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n";
  constexpr std::string_view fence = "```";
  const auto trim = [&] {
    const auto from = std::min(text.find_first_not_of(blanks), text.size());
    text.remove_prefix(from);
    text = text.substr(0, text.find_last_not_of(blanks) + 1);
  };
  trim();
  if (text.size() < 2 * fence.size() || !text.starts_with(fence)
      || !text.ends_with(fence))
    return text;
  text.remove_suffix(fence.size());
  text.remove_prefix(std::min(text.find('\n'), text.size()));
  trim();
  return text;
}

/// @errors throws `invalid_argument` with the path.
json read_answer(const message& answer, const json& schema) {
  for (const auto& x : answer.content)
    if (const auto* data = x.as_data()) {
      check_schema(data->data, schema);
      return data->data;
    }
  auto result = parse_json<json>(without_fences(answer.text()));
  check_schema(result, schema);
  return result;
}

std::vector<message> correction(message answer, const status_error& wrong) {
  std::vector<message> result;
  result.push_back(std::move(answer));
  result.push_back(
    user_text("That is not what was asked for: " + wrong.message()
              + ". Answer again, with nothing but JSON that has the schema."));
  return result;
}

// -- the loop -----------------------------------------------------------------

class generator {
public:
  explicit generator(generate_options how) : how_(std::move(how)) {
    for (const auto& x : how_.tools)
      definitions_.push_back(x.definition());
  }

  task<generation> run(context ctx) {
    if (how_.in_session) {
      if (!how_.messages.empty() || !how_.said.empty())
        throw status_error{errc::invalid_argument,
                           "a session has messages of its own"};
      made_.messages = co_await session_messages(ctx);
    } else {
      made_.messages = how_.messages.with(std::move(how_.said));
    }
    if (auto open = find_open_turn(made_.messages)) {
      const auto old = made_.messages;
      const auto ran = co_await run_calls(ctx, &how_, &*open);
      auto last
        = open->waits() ? open->waiting_answer() : open->settled_answer();
      auto now = open->before.with(last);
      if (!open->waits())
        now = now.with(open->responses());
      now = now.with(std::move(open->rest));
      made_.messages = co_await replace(ctx, &how_, old, std::move(now));
      if (open->waits()) {
        co_await interrupt(std::move(last));
        co_return std::move(made_);
      }
      co_await conclude(ctx, *open, ran);
    }
    while (made_.iterations < how_.max_iterations) {
      if (co_await answer(ctx))
        co_return std::move(made_);
    }
    throw status_error{errc::resource_exhausted,
                       (corrections_.empty()
                          ? "the model still asks for tools after "
                          : "the model has not said what was asked for in ")
                         + std::to_string(how_.max_iterations) + " answers"};
  }

private:
  /// Sends one request to the model and runs the tools that its answer
  /// requests.
  /// @returns whether the generation is over.
  task<bool> answer(context ctx) {
    detail::streamed_answer streamed;
    auto asking = how_.model(ctx, request(), hearer_for(streamed));
    made_.response = co_await std::move(asking);
    ++made_.iterations;
    if (const auto& cost = made_.response.usage) {
      made_.usage.input_tokens += cost->input_tokens;
      made_.usage.output_tokens += cost->output_tokens;
      made_.usage.total_tokens += cost->total_tokens;
    }
    if (refused())
      note_refusal();
    if (!made_.response.message)
      co_return true;
    auto turn = new_turn(made_.messages, *made_.response.message);
    if (how_.hear)
      if (auto rest = streamed.rest_of(turn.answer)) {
        auto hearing = how_.hear(std::move(*rest));
        co_await std::move(hearing);
      }
    std::vector<message> said;
    if (turn.calls.empty()) {
      if (!accept(turn.answer))
        co_return false;
      said.push_back(std::move(turn.answer));
      made_.messages
        = co_await add(ctx, &how_, made_.messages, std::move(said));
      co_return true;
    }
    corrections_.clear();
    const auto ran = co_await run_calls(ctx, &how_, &turn);
    if (turn.waits()) {
      auto last = turn.waiting_answer();
      said.push_back(last);
      made_.messages
        = co_await add(ctx, &how_, made_.messages, std::move(said));
      co_await interrupt(std::move(last));
      co_return true;
    }
    // Both messages are added in one step, so that a request is never stored
    // without its response.
    said.push_back(turn.settled_answer());
    said.push_back(turn.responses());
    made_.messages = co_await add(ctx, &how_, made_.messages, std::move(said));
    co_await conclude(ctx, turn, ran);
    co_return false;
  }

  /// Returns whether the model refuses to answer and gives a reason. Returns
  /// false if an output schema is set, because a reason is not a value.
  [[nodiscard]] bool refused() const {
    return made_.response.finish_reason == finish_reason::blocked
           && !made_.response.finish_message.empty()
           && how_.output_schema.is_null();
  }

  /// Adds the reason of a refusal to the message of the model, so that users
  /// and later requests see it.
  void note_refusal() {
    auto& said = made_.response.message;
    if (!said)
      said.emplace().role = role::model;
    said->content.push_back(part::text(made_.response.finish_message));
  }

  /// Returns a callback that forwards the chunks of the model and records them
  /// in `to`.
  /// @lifetime `to` outlives the result.
  [[nodiscard]] chunk_hearer hearer_for(detail::streamed_answer& to) const {
    if (!how_.hear)
      return {};
    return [this, &to](model_response_chunk x) {
      to.add(x);
      return how_.hear(std::move(x));
    };
  }

  [[nodiscard]] generate_request request() const {
    generate_request result{
      corrections_.empty() ? made_.messages : made_.messages.with(corrections_),
      how_.system};
    result.tools = definitions_;
    result.tool_choice = how_.tool_choice;
    if (made_.iterations > 0 && how_.tool_choice == tool_choice::required)
      result.tool_choice = tool_choice::automatic;
    result.config = how_.config;
    result.output_schema = how_.output_schema;
    return result;
  }

  /// Parses the answer according to the output schema.
  /// @returns false if the model has to answer again.
  bool accept(const message& x) {
    if (how_.output_schema.is_null())
      return true;
    try {
      made_.output = read_answer(x, how_.output_schema);
      return true;
    } catch (const status_error& wrong) {
      if (wrong.code() != errc::invalid_argument)
        throw;
      if (how_.repairs == 0)
        throw status_error{errc::invalid_argument,
                           "the model's answer is not what was asked for: "
                             + wrong.message(),
                           wrong.details()};
      --how_.repairs;
      corrections_ = correction(x, wrong);
      return false;
    }
  }

  /// Ends a round of tool calls: sends the responses to the client, and may
  /// store a snapshot.
  task<> conclude(context ctx, const open_turn& turn, bool ran) {
    co_await say(&how_, role::tool, turn.responses().content);
    if (ran)
      co_await trigger_snapshot(ctx, snapshot_event::tool_iteration_end);
  }

  task<> interrupt(message last) {
    co_await say(&how_, role::model, interrupts_in(last.content));
    made_.response.message = std::move(last);
    made_.response.finish_reason = finish_reason::interrupted;
  }

  generate_options how_;
  std::vector<tool_definition> definitions_;
  /// Wrong answer and the request for its correction, until the model answers
  /// as required. Only the model needs to see them.
  std::vector<message> corrections_;
  generation made_;
};

} // namespace

} // namespace tertulia::ai

namespace tertulia::detail {

task<ai::generation> run_generation(context ctx, ai::generate_options how) {
  ai::generator work{std::move(how)};
  auto run = ctx.run("generate", [&](context here) { return work.run(here); });
  co_return co_await std::move(run);
}

json output_of(ai::generation&& x) {
  if (x.response.finish_reason == ai::finish_reason::interrupted)
    throw ai::interrupt_error("a tool of the answer");
  if (!x.response.message)
    throw status_error{errc::failed_precondition,
                       "the model has said nothing: "
                         + x.response.finish_message};
  return std::move(x.output);
}

} // namespace tertulia::detail
