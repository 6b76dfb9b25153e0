// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/ai/interrupt.hpp>
#include <tertulia/ai/prompt.hpp>

#include <cstddef>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace tertulia::ai {

/// What came of a generation.
///
/// @threads a value.
// NOLINTNEXTLINE(bugprone-exception-escape): moving JSON asserts
struct generation {
  /// The last answer. Its finish reason is `interrupted` if tools wait for a
  /// person.
  model_response response;

  /// The whole conversation, the last answer included.
  message_log messages;

  /// The last answer as a document if a schema was given.
  json output;

  /// What all answers together have cost.
  generation_usage usage;

  /// How many answers it took; 0 if nobody was asked because tools still wait
  /// for a person.
  std::size_t iterations = 0;

  /// The text of the last answer.
  [[nodiscard]] std::string text() const {
    return response.text();
  }

  /// The requests of the last answer that wait for a person.
  [[nodiscard]] std::vector<part> interrupts() const {
    if (!response.message)
      return {};
    return interrupts_in(response.message->content);
  }
};

} // namespace tertulia::ai

namespace tertulia::detail {

task<ai::generation> run_generation(context ctx, ai::generate_options how);

/// @errors throws `failed_precondition` if there is no answer yet.
json output_of(ai::generation&& x);

template <class T>
task<T> run_typed(context ctx, ai::generate_options how) {
  how.output_schema = schema_of<T>();
  auto made = co_await run_generation(ctx, std::move(how));
  co_return from_json<T>(output_of(std::move(made)));
}

template <class Wait>
task<> wait_for(Wait x) {
  co_await std::move(x);
}

inline task<> wait_for_nothing() {
  co_return;
}

/// Makes one kind of listener of a responder, or of a function that returns
/// something to wait for, or nothing.
template <class Out>
ai::chunk_hearer hearer_of(Out out) {
  return [out = std::move(out)](ai::model_response_chunk x) {
    if constexpr (requires { out.send_chunk(x); }) {
      return wait_for(out.send_chunk(std::move(x)));
    } else if constexpr (std::is_void_v<std::invoke_result_t<
                           const Out&, ai::model_response_chunk>>) {
      out(std::move(x));
      return wait_for_nothing();
    } else {
      return wait_for(out(std::move(x)));
    }
  };
}

template <class... Options>
ai::generate_options
gather_generate(const ai::prompt& what, const Options&... options) {
  auto result = what.options();
  (apply_option(options, result), ...);
  return result;
}

} // namespace tertulia::detail

namespace tertulia::ai {

/// Has a model answer, run the tools that it asks for, and answer again, until
/// it wants no more of them.
///
/// ```
/// auto told = co_await ai::generate(ctx, model, ai::with_prompt("A joke?"));
/// co_await out.send(told.text());
/// ```
///
/// The tools of one answer run side by side. What a tool throws goes back to
/// the model as its response, unless the tool was defined otherwise; so does a
/// request for a tool that is not there. After each round a snapshot is
/// triggered (`snapshot_event::tool_iteration_end`), and then the model is
/// asked again.
///
/// *The history is always whole.* An answer that asks for tools is added to the
/// conversation together with all responses, or not at all: after a failure or
/// a cancel the conversation ends before that answer. Only an answer whose
/// tools wait for a person stands alone, as the last one, with
/// `finish_reason::interrupted`; the requests that wait have their question in
/// the metadata, those that are done their output.
///
/// *A refusal is an answer.* What a model says in `finish_message` when it is
/// `blocked` is streamed and becomes text of the answer, unless a schema was
/// asked for.
///
/// *What was left open is closed first.* Tool responses and repeated requests
/// (see `answer_to`, `approval`) in the messages behind the last answer are
/// checked against its requests, which are then answered or run again. As long
/// as some still wait, the generation is interrupted again and the model is not
/// asked. A user who goes on without a word to them declines: they are answered
/// with an error. So is what a program left behind that died between a request
/// and its response.
///
/// @param what    an `ai::prompt`, or a model.
/// @param options any of `with_session`, `with_messages`, `with_prompt`,
///                `with_system`, `with_tools`, `with_tool_choice`,
///                `with_config`, `with_output_schema`, `with_repairs`,
///                `with_max_iterations`, `with_max_tool_calls`.
/// @errors  `resource_exhausted` if the model still wants tools after the last
///          iteration; `invalid_argument` with the path for an answer without
///          the schema, for a response or a repeated request that fits no
///          request of the last answer, or is the second one for it, and for
///          options that make no sense; what the model throws, and a tool that
///          `fails_turn`; `cancelled` and what else ends the body.
/// @threads only on the actor of its body.
/// @design  README §5.19 "Generate"; seed 000 §12.
template <class... Options>
[[nodiscard]] task<generation>
generate(context ctx, const prompt& what, Options&&... options) {
  detail::check_awaited_options<Options...>();
  return detail::run_generation(ctx, detail::gather_generate(what, options...));
}

/// The same with a model that was told nothing yet.
template <model_like Model, class... Options>
[[nodiscard]] task<generation>
generate(context ctx, const Model& model, Options&&... options) {
  return generate(ctx, prompt{model}, std::forward<Options>(options)...);
}

/// As `generate`, and says what comes while it comes.
///
/// ```
/// co_await ai::generate_stream(ctx, prompt, out, ai::with_session(sess));
/// ```
///
/// The pieces are those of all answers, the responses of the tools, and the
/// requests of tools that wait for a person, with their question. The part of
/// an answer that its model returns without having streamed it comes at its
/// end.
///
/// @param to who hears them: the responder of a body, or a function that takes
///           a `model_response_chunk`. What it returns, unless that is void, is
///           awaited before the next piece, and a model that is a window ahead
///           waits, too.
/// @errors  as `generate`, and what `to` throws, which ends the generation.
/// @threads as `generate`; `to` is called on that actor.
template <class Out, class... Options>
[[nodiscard]] task<generation> generate_stream(context ctx, const prompt& what,
                                               Out&& to, Options&&... options) {
  detail::check_awaited_arguments<Out>();
  detail::check_awaited_options<Options...>();
  auto how = detail::gather_generate(what, options...);
  how.hear = detail::hearer_of<std::decay_t<Out>>(std::forward<Out>(to));
  return detail::run_generation(ctx, std::move(how));
}

/// The same with a model that was told nothing yet.
template <model_like Model, class Out, class... Options>
[[nodiscard]] task<generation> generate_stream(context ctx, const Model& model,
                                               Out&& to, Options&&... options) {
  return generate_stream(ctx, prompt{model}, std::forward<Out>(to),
                         std::forward<Options>(options)...);
}

/// Has a model answer with a `T`.
///
/// ```
/// auto dish = co_await ai::generate<recipe>(ctx, model,
///                                           ai::with_prompt("With leeks!"));
/// ```
///
/// The model is told the schema of the type, and its answer is read and checked
/// with it, also if it stands between code fences.
///
/// @errors  as `generate`; `failed_precondition` if a tool waits for a person,
///          and if the model said nothing.
/// @threads as `generate`.
template <json_value T, class... Options>
[[nodiscard]] task<T>
generate(context ctx, const prompt& what, Options&&... options) {
  detail::check_awaited_options<Options...>();
  return detail::run_typed<T>(ctx, detail::gather_generate(what, options...));
}

/// The same with a model that was told nothing yet.
template <json_value T, model_like Model, class... Options>
[[nodiscard]] task<T>
generate(context ctx, const Model& model, Options&&... options) {
  return generate<T>(ctx, prompt{model}, std::forward<Options>(options)...);
}

} // namespace tertulia::ai
