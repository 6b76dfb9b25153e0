// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/ai/generate_request.hpp>
#include <tertulia/descriptor.hpp>
#include <tertulia/detail/access.hpp>
#include <tertulia/detail/build.hpp>
#include <tertulia/detail/option_family.hpp>
#include <tertulia/detail/tool_kind.hpp>
#include <tertulia/runtime.hpp>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace tertulia::ai {

/// Handle of a tool, whatever its types. A model may request it.
///
/// @threads  all members; cheap to copy.
/// @lifetime must not outlive the actor system; if its runtime is gone, a call
///           fails with `unavailable`.
/// @design   docs/tools.md#tools.
class tool {
public:
  /// Returns its name, and the schemas of its input (`init_schema`), of its
  /// output, and of people's replies to it (`input_schema`).
  [[nodiscard]] const descriptor& info() const noexcept {
    return *entry_->action.info;
  }

  /// Returns the options that were given in its definition.
  [[nodiscard]] const tool_options& options() const noexcept {
    return entry_->options;
  }

  /// Returns its definition for a model.
  [[nodiscard]] tool_definition definition() const {
    return tool_definition{info().name, info().description, info().init_schema,
                           info().output_schema};
  }

  /// Runs the tool as a call of a body: under a span `/tool/<name>`, cancelled
  /// with the body, in the session of the body.
  ///
  /// @param replies replies of people to the tool, in the order of its
  ///                questions.
  /// @param hear    takes each report of progress (`tool_context::report`), and
  ///                is awaited before the next one is read; may be null.
  /// @param call_id the result of `tool_context::call_id`; empty for one that
  ///                is new.
  /// @errors  `invalid_argument` with the path for an input that does not fit
  ///          its schema; `deadline_exceeded`; errors of the tool, see
  ///          `interrupt_error` for one that waits for a person; `cancelled`
  ///          and other reasons that end the body.
  /// @threads only on the actor of the body.
  [[nodiscard]] task<json> call(context ctx, json input,
                                std::vector<json> replies,
                                std::function<task<>(json)> hear = nullptr,
                                std::string call_id = {}) const {
    return detail::run_tool<json>(ctx, entry_, payload::of(std::move(input)),
                                  std::move(replies), std::move(hear),
                                  std::move(call_id));
  }

  [[nodiscard]] task<json> call(context ctx, json input) const {
    return call(ctx, std::move(input), std::vector<json>{});
  }

protected:
  [[nodiscard]] const std::shared_ptr<const detail::tool_entry>& entry() const {
    return entry_;
  }

private:
  friend detail::access;

  explicit tool(std::shared_ptr<const detail::tool_entry> what)
    : entry_(std::move(what)) {}

  std::shared_ptr<const detail::tool_entry> entry_;
};

/// Handle of a tool with its types.
///
/// @threads  as a `tool`.
/// @lifetime as a `tool`.
template <class In, class Out>
class typed_tool : public tool {
public:
  using tool::tool;

  /// As `tool::call`, but without encoding. Takes an input or the arguments to
  /// build one, see `output::send`.
  template <class... Ts>
  requires detail::buildable_from<In, Ts...>
  [[nodiscard]] task<Out> call(context ctx, Ts&&... xs) const {
    detail::check_awaited_arguments<Ts...>();
    return detail::run_tool<Out>(
      ctx, this->entry(),
      payload::of(detail::build<In>(std::forward<Ts>(xs)...)), {});
  }
};

/// Defines a tool: a function that a model may request. Registers it as
/// `/tool/<name>`, an action that is opened with its input.
///
/// ```
/// auto weather = ai::define_tool(
///   rt, "weather", "Says how the weather is in a city.",
///   [](ai::tool_context, place where) -> tertulia::task<std::string> {
///     co_return "sunny in " + where.city;
///   });
/// ```
///
/// @param name        1 to 64 letters, digits, `_` and `-`, as models require.
/// @param description for the model: purpose of the tool and when to use it.
/// @param fn          a coroutine `task<Out>(ai::tool_context, In)` or a
///                    function that returns such a task; `In` is described, a
///                    map or `json`: an object. It runs on an actor of its own,
///                    and the runtime keeps it alive meanwhile, so a lambda may
///                    capture. Blocking work goes through `ctx.run_blocking`.
/// @param options     any of `with_tool_failure`, `with_tool_timeout`.
/// @errors  `already_exists`; `invalid_argument` for a bad name or invalid
///          options.
/// @threads from any thread.
/// @design  docs/tools.md#tools.
template <class Fn, class... Options>
auto define_tool(runtime& rt, std::string name, std::string description, Fn fn,
                 const Options&... options) {
  if constexpr (detail::check_tool_function<Fn>()) {
    using types = detail::types_of_tool<Fn>;
    using in_type = typename types::in_type;
    using out_type = typename types::out_type;
    detail::check_tool_name(name);
    auto entry = std::make_shared<detail::tool_entry>();
    (detail::apply_option(options, entry->options), ...);
    auto info = detail::describe_action<in_type, json, out_type, json>(
      "tool", std::move(name), std::move(description));
    const auto callee = detail::make_body_action<detail::tool_kind<Fn>>(
      std::move(fn), std::move(info));
    detail::access::add(rt, callee);
    entry->action = detail::action_ref{&rt.system(), rt.front_desk(),
                                       callee->key(), callee->info(), callee};
    return detail::access::make<typed_tool<in_type, out_type>>(
      std::move(entry));
  }
}

/// Returns a tool function that sends its `In` to an actor as a request.
///
/// ```
/// ai::define_tool(rt, "heat", "Sets the temperature.",
///                 ai::asking<set_point>(thermostat, 2s));
/// ```
///
/// @param within longest wait for the reply; the actor may act on the request
///               even if its reply comes too late.
/// @errors  of a call: as `context::ask`.
/// @threads from any thread.
template <class In, class... Sigs>
[[nodiscard]] auto
asking(caf::typed_actor<Sigs...> actor, caf::timespan within) {
  using handle = caf::typed_actor<Sigs...>;
  using reply = detail::reply_of_t<handle, In>;
  return [actor = std::move(actor), within](tool_context,
                                            In question) -> task<reply> {
    detail::reply_wait<reply, handle, In> pending{actor, within,
                                                  std::move(question)};
    co_return co_await std::move(pending);
  };
}

} // namespace tertulia::ai
