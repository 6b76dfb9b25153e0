// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/ai/generate_request.hpp>
#include <tertulia/detail/build.hpp>
#include <tertulia/detail/option_family.hpp>
#include <tertulia/detail/tool_action.hpp>
#include <tertulia/runtime.hpp>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace tertulia::ai {

/// A tool that was defined, whatever its types: what a model may ask for.
///
/// @threads  all members; cheap to copy.
/// @lifetime within that of the actor system; its runtime may be gone, and a
///           call then fails with `unavailable`.
/// @design   README §5.18 "Tools".
class tool {
public:
  /// Private to this library.
  explicit tool(std::shared_ptr<const detail::tool_entry> what)
    : what_(std::move(what)) {}

  /// What it is called, and the schemas of what goes in (`init_schema`), out,
  /// and of what people may say to it (`input_schema`).
  [[nodiscard]] const descriptor& info() const noexcept {
    return what_->what.info;
  }

  /// What was chosen when it was defined.
  [[nodiscard]] const tool_options& options() const noexcept {
    return what_->options;
  }

  /// What a model is told of it.
  [[nodiscard]] tool_definition definition() const {
    return tool_definition{info().name, info().description, info().init_schema,
                           info().output_schema};
  }

  /// Runs it as a call of a body: under a span `/tool/<name>`, cancelled with
  /// the body, in the session of the body.
  ///
  /// @param said what people have said to it, in the order of its questions.
  /// @errors  `invalid_argument` with the path for an input that does not fit
  ///          its schema; `deadline_exceeded`; what the tool throws, see
  ///          `interrupt_error` for one that waits for a person; `cancelled`
  ///          and what else ends the body.
  /// @threads only on the actor of the body.
  [[nodiscard]] task<json> run(context ctx, json input,
                               std::vector<json> said) const {
    return detail::run_tool<json>(ctx, what_, payload::of(std::move(input)),
                                  std::move(said));
  }

  [[nodiscard]] task<json> run(context ctx, json input) const {
    return run(ctx, std::move(input), std::vector<json>{});
  }

protected:
  [[nodiscard]] const std::shared_ptr<const detail::tool_entry>& what() const {
    return what_;
  }

private:
  std::shared_ptr<const detail::tool_entry> what_;
};

/// A tool with its types.
///
/// @threads  as a `tool`.
/// @lifetime as a `tool`.
template <class In, class Out>
class typed_tool : public tool {
public:
  using tool::tool;

  /// As `tool::run`; nothing is encoded on the way. Takes an input or the
  /// arguments to build one, see `output::send`.
  template <class... Ts>
  requires detail::buildable_from<In, Ts...>
  [[nodiscard]] task<Out> run(context ctx, Ts&&... xs) const {
    detail::check_awaited_arguments<Ts...>();
    return detail::run_tool<Out>(
      ctx, this->what(),
      payload::of(detail::build<In>(std::forward<Ts>(xs)...)), {});
  }
};

/// Defines a tool: a function that a model may ask for. Registers it as
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
/// @param name        1 to 64 letters, digits, `_` and `-`: what models take.
/// @param description for the model: what it does and when to use it.
/// @param fn          a coroutine `task<Out>(ai::tool_context, In)` or a
///                    function that returns such a task; `In` is described, a
///                    map or `json`: an object. It runs on an actor of its own,
///                    and the runtime keeps it while it does, so a lambda may
///                    capture. Blocking work goes through `ctx.run_blocking`.
/// @param options     any of `with_tool_failure`, `with_tool_timeout`.
/// @errors  `already_exists`; `invalid_argument` for a bad name or options that
///          make no sense.
/// @threads from any thread.
/// @design  README §5.18 "Tools".
template <class Fn, class... Options>
auto define_tool(runtime& rt, std::string name, std::string description, Fn fn,
                 const Options&... options) {
  if constexpr (detail::check_tool_function<Fn>()) {
    using action_type = detail::tool_action<Fn>;
    using in_type = typename action_type::in_type;
    using out_type = typename action_type::types::out_type;
    detail::check_tool_name(name);
    auto entry = std::make_shared<detail::tool_entry>();
    (detail::apply_option(options, entry->options), ...);
    auto info = detail::describe_action<in_type, json, out_type, nothing>(
      "tool", std::move(name), std::move(description));
    auto what = std::make_shared<action_type>(std::move(info), std::move(fn));
    rt.add({what});
    entry->what = detail::action_ref{&rt.system(), rt.front_desk(), what->key(),
                                     what->info, what};
    return typed_tool<in_type, out_type>{std::move(entry)};
  }
}

/// Makes a tool's function of an actor: has it answer an `In`.
///
/// ```
/// ai::define_tool(rt, "heat", "Sets the temperature.",
///                 ai::asking<set_point>(thermostat, 2s));
/// ```
///
/// @param within longest wait for the answer; the actor may act on the request
///               even if its answer comes too late.
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
