// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/ai/interrupt.hpp>
#include <tertulia/ai/prompt.hpp>
#include <tertulia/ai/tool_progress.hpp>

#include <cstddef>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace tertulia::ai {

/// Result of a generation.
///
/// @threads a value.
// NOLINTNEXTLINE(bugprone-exception-escape): moving JSON asserts
struct generation {
  /// The last answer. Its finish reason is `interrupted` if tools wait for a
  /// person.
  model_response response;

  /// The whole conversation, including the last answer.
  message_log messages;

  /// The last answer as a document, if a schema was given.
  json output;

  /// Total usage of all answers.
  generation_usage usage;

  /// Number of answers; 0 if the model was not asked because tools still wait
  /// for a person.
  std::size_t iterations = 0;

  /// Returns the text of the last answer.
  [[nodiscard]] std::string text() const {
    return response.text();
  }

  /// Returns the requests of the last answer that wait for a person.
  [[nodiscard]] std::vector<part> interrupts() const {
    if (!response.message)
      return {};
    return interrupts_in(response.message->content);
  }
};

} // namespace tertulia::ai

namespace tertulia::detail {

task<ai::generation> run_generation(context ctx, ai::generate_options options);

/// @errors throws `failed_precondition` if there is no answer yet.
json output_of(ai::generation&& x);

template <class T>
task<T> generate_typed(context ctx, ai::generate_options options) {
  options.output_schema = schema_of<T>();
  auto result = co_await run_generation(ctx, std::move(options));
  co_return from_json<T>(output_of(std::move(result)));
}

template <class Wait>
task<> wait_for(Wait x) {
  co_await std::move(x);
}

inline task<> completed_task() {
  co_return;
}

/// Returns a chunk callback for a responder, or for a function that returns an
/// awaitable or void.
template <class Out>
ai::chunk_callback callback_of(Out out) {
  return [out = std::move(out)](ai::model_response_chunk x) {
    if constexpr (requires { out.send_chunk(x); }) {
      return wait_for(out.send_chunk(std::move(x)));
    } else if constexpr (std::is_void_v<std::invoke_result_t<
                           const Out&, ai::model_response_chunk>>) {
      out(std::move(x));
      return completed_task();
    } else {
      return wait_for(out(std::move(x)));
    }
  };
}

template <class... Options>
ai::generate_options
collect_options(const ai::prompt& base_prompt, const Options&... options) {
  auto result = base_prompt.options();
  (apply_option(options, result), ...);
  return result;
}

} // namespace tertulia::detail

namespace tertulia::ai {

/// Lets a model answer, runs the tools that it requests, and lets it answer
/// again, until it requests no more tools.
///
/// ```
/// const ai::with_user_text question{"A joke?"};
/// auto answer = co_await ai::generate(ctx, model, question);
/// co_await out.send(answer.text());
/// ```
///
/// The tools of one answer run concurrently. An error of a tool is sent to the
/// model as the tool's response, unless the tool was defined otherwise; a
/// request for an unknown tool also gets an error as its response. After each
/// round a snapshot is triggered (`snapshot_event::tool_iteration_end`), and
/// then the model is asked again.
///
/// *The history is always complete.* An answer that requests tools is added to
/// the conversation together with all responses, or not at all: after a failure
/// or a cancel the conversation ends before that answer. Only an answer whose
/// tools wait for a person is stored without responses, as the last message,
/// with `finish_reason::interrupted`. The waiting requests have their question
/// in the metadata, the completed ones their output.
///
/// *A refusal is an answer.* The `finish_message` of a model that is `blocked`
/// is streamed and becomes text of the answer, unless a schema was given.
///
/// *Open requests are settled first.* Tool responses and repeated requests (see
/// `answer_to`, `approval`) in the messages after the last answer are checked
/// against its requests, which are then answered or run again. As long as some
/// still wait, the generation is interrupted again and the model is not asked.
/// If the user continues without a reply to them, they are declined: they are
/// answered with an error. So are requests without a response that a crashed
/// program has left behind.
///
/// @param base_prompt an `ai::prompt`, or a model.
/// @param options any of `with_session`, `with_messages`, `with_user_text`,
///                `with_system`, `with_tools`, `with_tool_choice`,
///                `with_config`, `with_output_schema`, `with_repairs`,
///                `with_max_iterations`, `with_max_tool_calls`.
/// @errors  `resource_exhausted` if the model still requests tools after the
///          last iteration; `invalid_argument` with the path for an answer that
///          does not fit the schema, for a response or a repeated request that
///          does not match a request of the last answer, or is the second one
///          for it, and for invalid options; errors of the model, and of a
///          tool that `fails_turn`; `cancelled` and other reasons that end the
///          body.
/// @threads only on the actor of its body.
/// @design  docs/generate.md#generate; docs/genkit.md 000 §12.
template <class... Options>
[[nodiscard]] task<generation>
generate(context ctx, const prompt& base_prompt, Options&&... options) {
  detail::check_awaited_options<Options...>();
  return detail::run_generation(ctx, detail::collect_options(base_prompt,
                                                             options...));
}

/// As `generate` with a prompt that consists of the model only.
template <model_like Model, class... Options>
[[nodiscard]] task<generation>
generate(context ctx, const Model& model, Options&&... options) {
  return generate(ctx, prompt{model}, std::forward<Options>(options)...);
}

/// As `generate`, and streams the answers while they arrive.
///
/// ```
/// co_await ai::generate_stream(ctx, prompt, out, ai::with_session(sess));
/// ```
///
/// The stream contains the chunks of all answers, the responses of the tools,
/// and the requests of tools that wait for a person, with their question. The
/// part of an answer that its model returns without having streamed it comes at
/// the end of that answer.
///
/// @param to receiver of the chunks: the responder of a body, or a function
///           that takes a `model_response_chunk`. Its result, unless void, is
///           awaited before the next chunk; a model that is a window ahead
///           waits, too.
/// @errors  as `generate`, and errors of `to`, which end the generation.
/// @threads as `generate`; `to` is called on that actor.
template <class Out, class... Options>
[[nodiscard]] task<generation> generate_stream(context ctx,
                                               const prompt& base_prompt,
                                               Out&& to, Options&&... options) {
  detail::check_awaited_arguments<Out>();
  detail::check_awaited_options<Options...>();
  auto how = detail::collect_options(base_prompt, options...);
  how.on_chunk = detail::callback_of<std::decay_t<Out>>(std::forward<Out>(to));
  return detail::run_generation(ctx, std::move(how));
}

/// As `generate_stream` with a prompt that consists of the model only.
template <model_like Model, class Out, class... Options>
[[nodiscard]] task<generation> generate_stream(context ctx, const Model& model,
                                               Out&& to, Options&&... options) {
  return generate_stream(ctx, prompt{model}, std::forward<Out>(to),
                         std::forward<Options>(options)...);
}

/// Lets a model answer with a `T`.
///
/// ```
/// const ai::with_user_text wish{"With leeks!"};
/// auto dish = co_await ai::generate<recipe>(ctx, model, wish);
/// ```
///
/// The model receives the schema of the type. Its answer is parsed and checked
/// against the schema, also if it is enclosed in code fences.
///
/// @errors  as `generate`; `failed_precondition` if a tool waits for a person,
///          or if the model returned no message.
/// @threads as `generate`.
template <json_value T, class... Options>
[[nodiscard]] task<T>
generate(context ctx, const prompt& base_prompt, Options&&... options) {
  detail::check_awaited_options<Options...>();
  return detail::generate_typed<T>(ctx, detail::collect_options(base_prompt,
                                                                options...));
}

/// As `generate` with a prompt that consists of the model only.
template <json_value T, model_like Model, class... Options>
[[nodiscard]] task<T>
generate(context ctx, const Model& model, Options&&... options) {
  return generate<T>(ctx, prompt{model}, std::forward<Options>(options)...);
}

} // namespace tertulia::ai
