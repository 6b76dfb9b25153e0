// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/ai/generate_request.hpp>
#include <tertulia/ai/model.hpp>
#include <tertulia/ai/responder.hpp>
#include <tertulia/ai/session.hpp>
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

// What can be said when something is generated:
//
//   co_await ai::generate(ctx, model, ai::with_system("Be brief."),
//                         ai::with_tools(weather), ai::with_session(sess));
//
// Design: README §5.19 "Generate".

namespace tertulia::ai {

/// Hears the pieces of an answer; what it returns is awaited before the next.
using chunk_hearer = std::function<task<>(model_response_chunk)>;

} // namespace tertulia::ai

namespace tertulia::detail {

/// A model, whatever its type.
using any_model = std::function<task<ai::model_response>(
  context, ai::generate_request, ai::chunk_hearer)>;

} // namespace tertulia::detail

namespace tertulia::ai {

/// A model that can be asked: an `ai::model`, or anything of your own that is
/// called alike. Copies of it are kept.
template <class T>
concept model_like = requires(const T& x, const context& ctx,
                              generate_request request, chunk_hearer hear) {
  { x.generate(ctx, request, hear) } -> std::same_as<task<model_response>>;
  { x.generate(ctx, request) } -> std::same_as<task<model_response>>;
};

/// Everything that can be chosen, with its defaults.
// NOLINTNEXTLINE(bugprone-exception-escape): moving JSON asserts
struct generate_options {
  detail::any_model model;
  /// Instructions before all messages; none if empty.
  std::string system;
  /// The conversation so far, and what is said behind it.
  message_log messages;
  std::vector<message> said;
  /// What the model may ask for, no two of one name, and whether it may.
  std::vector<tool> tools;
  ai::tool_choice tool_choice = ai::tool_choice::automatic;
  model_config config;
  /// The JSON Schema of the answer; any answer will do if null.
  json output_schema;
  /// Whether the conversation is that of the session of the body.
  bool in_session = false;
  /// Hears the pieces of the answers; empty if nobody does.
  chunk_hearer hear;
  /// How many answers at the most, and how many tool requests in one.
  std::size_t max_iterations = 10;
  std::size_t max_tool_calls = 32;
  /// How many answers without the schema are sent back.
  std::size_t repairs = 0;
};

/// An option of a prompt or a generation.
///
/// All of them are values. `apply` is what a prompt calls, in the order in
/// which they are given: the last word on one thing counts.
template <class T>
concept generate_option = requires(const T& x, generate_options& to) {
  x.apply(to);
};

/// Instructions that come before all messages.
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

/// What the user says, behind the messages, in whichever order both are given;
/// can be given several times. Not together with `with_session`.
struct with_prompt {
  explicit with_prompt(std::string text) : text(std::move(text)) {}

  void apply(generate_options& to) const {
    to.said.push_back(user_text(text));
  }

  std::string text;
};

/// What the model may ask for; can be given several times.
struct with_tools {
  template <std::convertible_to<tool>... Tools>
  explicit with_tools(const Tools&... xs) : tools{tool(xs)...} {}

  explicit with_tools(std::vector<tool> tools) : tools(std::move(tools)) {}

  /// @errors throws `invalid_argument` for two tools of one name.
  void apply(generate_options& to) const;

  std::vector<tool> tools;
};

/// Whether the model may ask for tools; as it sees fit, if not given.
/// `required` is about the first answer only: a model that had to ask for tools
/// for ever would never end.
struct with_tool_choice {
  explicit with_tool_choice(tool_choice what) : what(what) {}

  void apply(generate_options& to) const {
    to.tool_choice = what;
  }

  tool_choice what;
};

/// How the model is to speak.
struct with_config {
  explicit with_config(model_config config) : config(std::move(config)) {}

  void apply(generate_options& to) const {
    to.config = config;
  }

  model_config config;
};

/// The JSON Schema that the answer must have; `generate<T>` gives its own.
struct with_output_schema {
  explicit with_output_schema(json schema) : schema(std::move(schema)) {}

  void apply(generate_options& to) const {
    to.output_schema = schema;
  }

  json schema;
};

/// How often a model is told what is wrong with an answer that has not the
/// schema, and asked again; never, if not given.
struct with_repairs {
  explicit with_repairs(std::size_t times) : times(times) {}

  void apply(generate_options& to) const {
    to.repairs = times;
  }

  std::size_t times;
};

/// Has the conversation read from the session and written to it: the session of
/// the body, in a chat agent or a session flow.
struct with_session {
  template <class Custom>
  explicit with_session(const session<Custom>&) {}

  void apply(generate_options& to) const {
    to.in_session = true;
  }
};

/// How many answers one generation may take, those that only ask for tools
/// included; 10 if not given. Positive.
struct with_max_iterations {
  explicit with_max_iterations(std::size_t most) : most(most) {}

  /// @errors throws `invalid_argument` for none.
  void apply(generate_options& to) const {
    if (most == 0)
      throw status_error{errc::invalid_argument,
                         "a generation takes one answer at least"};
    to.max_iterations = most;
  }

  std::size_t most;
};

/// How many tools one answer may ask for; 32 if not given. What is beyond is
/// answered with an error and not run.
struct with_max_tool_calls {
  explicit with_max_tool_calls(std::size_t most) : most(most) {}

  void apply(generate_options& to) const {
    to.max_tool_calls = most;
  }

  std::size_t most;
};

/// A model and how it is asked, to be used again and again.
///
/// ```
/// const ai::prompt concierge{model, ai::with_system("You help guests."),
///                            ai::with_tools(book, cancel)};
/// ```
///
/// @threads a value.
class prompt {
public:
  /// @errors what the options throw.
  template <model_like Model, class... Options>
  explicit prompt(Model model, const Options&... options) {
    options_.model
      = [model = std::move(model)](const context& ctx, generate_request request,
                                   chunk_hearer hear) {
          return hear ? model.generate(ctx, std::move(request), std::move(hear))
                      : model.generate(ctx, std::move(request));
        };
    (detail::apply_option(options, options_), ...);
  }

  [[nodiscard]] const generate_options& options() const noexcept {
    return options_;
  }

private:
  generate_options options_;
};

} // namespace tertulia::ai
