// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/ai/tool_context.hpp>
#include <tertulia/ai/tool_options.hpp>
#include <tertulia/async_connection.hpp>
#include <tertulia/bidi_action.hpp>
#include <tertulia/descriptor.hpp>
#include <tertulia/detail/coroutine_kind.hpp>
#include <tertulia/detail/open_nested.hpp>
#include <tertulia/schema_check.hpp>
#include <tertulia/span_names.hpp>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace tertulia::detail {

// -- the types, derived from the function -------------------------------------

template <class Signature>
struct tool_signature;

template <class Out, class In>
struct tool_signature<task<Out>(ai::tool_context, In)> {
  using in_type = std::remove_cvref_t<In>;
  using out_type = std::conditional_t<std::is_void_v<Out>, nothing, Out>;
};

template <class Fn>
using types_of_tool
  = tool_signature<typename callable_signature<std::decay_t<Fn>>::type>;

/// Function that can be a tool: a coroutine `task<Out>(ai::tool_context, In)`.
template <class Fn>
concept tool_function = requires {
  typename types_of_tool<Fn>::in_type;
};

/// Fails to compile for a function that cannot be a tool, and explains why.
template <class Fn>
consteval bool check_tool_function() {
  static_assert(
    tool_function<Fn>,
    "the function of a tool is a coroutine "
    "task<Out>(ai::tool_context, In), or a function object with one "
    "such call operator, const and no template");
  if constexpr (tool_function<Fn>) {
    using in_type = typename types_of_tool<Fn>::in_type;
    constexpr auto is_object
      = described_struct<
          in_type> || json_map<in_type> || std::is_same_v<in_type, json>;
    if constexpr (!json_value<in_type> || is_object)
      return check_json<in_type, typename types_of_tool<Fn>::out_type>();
    static_assert(!json_value<in_type> || is_object,
                  "the input of a tool is an object: models know no other");
  }
  return false;
}

// -- the action ---------------------------------------------------------------

/// Returns the document unchanged if it fits the schema.
/// @errors throws `invalid_argument` with the path; also without a document.
json check_tool_input(const payload& x, const json& schema);

/// Records an input or an output on the span of a tool.
void note_value(context ctx, const char* attribute, const payload& x);

/// Runs the function of a tool, makes its output a payload and records that.
/// Depends on the type of the output only; see `body_output`.
template <class Out>
struct tool_output {
  static task<payload> of(context ctx, task<Out> call) {
    auto result = payload::of(co_await task<Out>{std::move(call)});
    note_value(ctx, span_names::output, result);
    co_return result;
  }

  static task<payload> of(context, task<> call) {
    return body_output<nothing>::of(std::move(call));
  }
};

/// Kind of the actions that a model may request: such an action is opened with
/// its input, receives the replies of people, and ends with its output.
template <class Fn>
struct tool_kind {
  using types = types_of_tool<Fn>;
  using in_type = json;
  using base_type = action;
  using body_type = Fn;

  /// Checks more than decoding does: a model that omits an argument must get an
  /// error instead of a default value.
  static payload check_init(payload init, const action& tool) {
    using arguments = typename types::in_type;
    if (init.template get_if<arguments>() != nullptr)
      return init;
    if constexpr (std::is_same_v<arguments, nothing>)
      if (!init)
        return payload::of(nothing{});
    return payload::of(
      from_json<arguments>(check_tool_input(init, tool.info()->init_schema)));
  }

  static task<payload> start(const Fn& fn, context ctx, payload init) {
    note_value(ctx, span_names::input, init);
    using arguments = typename types::in_type;
    return tool_output<typename types::out_type>::of(
      ctx, fn(access::make<ai::tool_context>(ctx),
              std::move(init).template take<arguments>()));
  }
};

// -- calls --------------------------------------------------------------------

/// Action of a defined tool, with its options.
struct tool_entry {
  action_ref action;
  ai::tool_options options;
};

/// Runs a tool as a call of the body.
/// @param replies replies of people to the tool, in the order of its questions.
/// @param hear    takes each report of progress, and is awaited; may be null.
/// @param call_id of the context of the tool; may be empty.
template <class Out>
task<Out> run_tool(context ctx, std::shared_ptr<const tool_entry> target,
                   payload input, std::vector<json> replies,
                   std::function<task<>(json)> hear = nullptr,
                   std::string call_id = {}) {
  open_options options;
  options.call = std::move(call_id);
  options.deadline = target->options.within;
  options.input_window = static_cast<std::uint32_t>(
    std::clamp<std::size_t>(replies.size(), 1, max_window));
  open_request question{target->action.key, std::move(input),
                        std::move(options), chunk_sink{}};
  auto impl = co_await open_nested(ctx, target->action.desk,
                                   std::move(question), target->action.local);
  auto talk = access::make<async_connection<json, Out, json>>(std::move(impl));
  for (auto& x : replies) {
    // A tool that ends without reading its replies reports its result as
    // output.
    const auto sent = co_await as_expected(talk.send(std::move(x)));
    if (!sent)
      break;
  }
  talk.close();
  if (hear)
    while (auto report = co_await talk.next()) {
      auto hearing = hear(std::move(*report));
      co_await std::move(hearing);
    }
  co_return co_await talk.output();
}

// Compiled once, in tool.cpp, for tools of which only the name is known.
extern template task<json>
run_tool<json>(context ctx, std::shared_ptr<const tool_entry>, payload input,
               std::vector<json> replies, std::function<task<>(json)> hear,
               std::string call_id);

/// Checks the name of a tool.
/// @errors throws `invalid_argument` for a name that models do not accept.
void check_tool_name(const std::string& name);

} // namespace tertulia::detail
