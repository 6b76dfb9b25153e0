// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/ai/chat_session.hpp>
#include <tertulia/ai/flow_responder.hpp>
#include <tertulia/ai/generate_request.hpp>
#include <tertulia/ai/model_handle.hpp>
#include <tertulia/ai/tool.hpp>
#include <tertulia/detail/option_family.hpp>
#include <tertulia/schema.hpp>
#include <tertulia/task.hpp>

#include <concepts>
#include <cstddef>
#include <functional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

// Options of a generation:
//
//   co_await ai::generate(ctx, model, ai::with_system("Be brief."),
//                         ai::with_tools(weather), ai::with_session(sess));
//
// Design: docs/generate.md#generate.

namespace tertulia::ai {

/// Type of a model: `ai::model`, or any type with the same `generate`
/// functions. Copies of it are stored.
template <class T>
concept model_like
  = requires(const T& x, const context& ctx, generate_request request,
             chunk_callback on_chunk) {
  { x.generate(ctx, request, on_chunk) } -> std::same_as<task<model_response>>;
  { x.generate(ctx, request) } -> std::same_as<task<model_response>>;
};

} // namespace tertulia::ai

namespace tertulia::detail {

/// Model of any type.
using any_model = std::function<task<ai::model_response>(
  context, ai::generate_request, ai::chunk_callback)>;

template <class Model>
any_model any_model_of(Model model) {
  return
    [model = std::move(model)](const context& ctx, ai::generate_request request,
                               ai::chunk_callback on_chunk) {
      return on_chunk
               ? model.generate(ctx, std::move(request), std::move(on_chunk))
               : model.generate(ctx, std::move(request));
    };
}

extern template any_model any_model_of<ai::model>(ai::model);

} // namespace tertulia::detail

namespace tertulia::ai {

/// All options, with their defaults.
// NOLINTNEXTLINE(bugprone-exception-escape): moving JSON asserts
struct generate_options {
  detail::any_model model;
  /// Instructions before all messages; may be empty.
  std::string system;
  /// The conversation so far, and the messages after it.
  message_log messages;
  std::vector<message> user_messages;
  /// Tools that the model may request, with distinct names, and how it may use
  /// them.
  std::vector<tool> tools;
  ai::tool_choice tool_choice = ai::tool_choice::automatic;
  model_config config;
  /// JSON Schema of the answer; if null, any answer is accepted.
  json output_schema;
  /// True if the conversation is that of the session of the body.
  bool in_session = false;
  /// Callback for the chunks of the answers; may be empty.
  chunk_callback on_chunk;
  /// Maximum number of answers, and of tool requests in one answer.
  std::size_t max_iterations = 10;
  std::size_t max_tool_calls = 32;
  /// Maximum number of answers that are sent back because they do not fit the
  /// schema.
  std::size_t repairs = 0;
};

/// Option of a prompt or a generation.
///
/// All options are values. A prompt calls `apply` in the order in which they
/// are given: a later option overrides an earlier one for the same setting.
template <class T>
concept generate_option = requires(const T& x, generate_options& to) {
  x.apply(to);
};

/// Instructions before all messages.
struct with_system {
  explicit with_system(std::string text) : text(std::move(text)) {}

  void apply(generate_options& to) const {
    to.system = text;
  }

  std::string text;
};

/// The conversation so far. Not together with `with_session`.
struct with_messages {
  explicit with_messages(message_log messages)
    : messages(std::move(messages)) {}

  void apply(generate_options& to) const {
    to.messages = messages;
  }

  message_log messages;
};

/// Text of the user, after the messages, regardless of the order of the
/// options; may be given several times. Not together with `with_session`.
struct with_user_text {
  explicit with_user_text(std::string text) : text(std::move(text)) {}

  void apply(generate_options& to) const {
    to.user_messages.push_back(user_text(text));
  }

  std::string text;
};

/// Tools that the model may request; may be given several times.
struct with_tools {
  template <std::convertible_to<tool>... Tools>
  explicit with_tools(const Tools&... xs) : tools{tool(xs)...} {}

  explicit with_tools(std::vector<tool> tools) : tools(std::move(tools)) {}

  /// @errors throws `invalid_argument` for two tools with the same name.
  void apply(generate_options& to) const;

  std::vector<tool> tools;
};

/// Use of tools by the model; `automatic` by default. `required` applies to the
/// first answer only: if every answer had to request tools, the generation
/// would never end.
struct with_tool_choice {
  explicit with_tool_choice(tool_choice choice) : choice(choice) {}

  void apply(generate_options& to) const {
    to.tool_choice = choice;
  }

  tool_choice choice;
};

/// Configuration of the model.
struct with_config {
  explicit with_config(model_config config) : config(std::move(config)) {}

  void apply(generate_options& to) const {
    to.config = config;
  }

  model_config config;
};

/// JSON Schema of the answer; `generate<T>` sets its own.
struct with_output_schema {
  explicit with_output_schema(json schema) : schema(std::move(schema)) {}

  void apply(generate_options& to) const {
    to.output_schema = schema;
  }

  json schema;
};

/// Maximum number of times that a model is asked to correct an answer that does
/// not fit the schema; 0 by default.
struct with_repairs {
  explicit with_repairs(std::size_t times) : times(times) {}

  void apply(generate_options& to) const {
    to.repairs = times;
  }

  std::size_t times;
};

/// Option to read the conversation from the session and write it back: the
/// session of the body, in a chat agent or a session flow.
struct with_session {
  template <class Custom>
  explicit with_session(const chat_session<Custom>&) {}

  void apply(generate_options& to) const {
    to.in_session = true;
  }
};

/// Maximum number of answers of one generation, including those that only
/// request tools; 10 by default. Must be positive.
struct with_max_iterations {
  explicit with_max_iterations(std::size_t most) : most(most) {}

  /// @errors throws `invalid_argument` for zero.
  void apply(generate_options& to) const {
    if (most == 0)
      throw status_error{errc::invalid_argument,
                         "a generation needs at least one answer"};
    to.max_iterations = most;
  }

  std::size_t most;
};

/// Maximum number of tool requests in one answer; 32 by default. Further
/// requests are answered with an error and not run.
struct with_max_tool_calls {
  explicit with_max_tool_calls(std::size_t most) : most(most) {}

  void apply(generate_options& to) const {
    to.max_tool_calls = most;
  }

  std::size_t most;
};

/// Model with its options, for repeated use.
///
/// ```
/// const ai::prompt concierge{model, ai::with_system("You help guests."),
///                            ai::with_tools(book, cancel)};
/// ```
///
/// @threads a value.
class prompt {
public:
  /// @errors throws the errors of the options.
  template <model_like Model, class... Options>
  explicit prompt(Model model, const Options&... options) {
    options_.model = detail::any_model_of(std::move(model));
    (detail::apply_option(options, options_), ...);
  }

  [[nodiscard]] const generate_options& options() const noexcept {
    return options_;
  }

private:
  generate_options options_;
};

} // namespace tertulia::ai
