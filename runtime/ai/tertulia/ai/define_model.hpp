// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/ai/model_handle.hpp>
#include <tertulia/ai/model_output.hpp>
#include <tertulia/runtime.hpp>

#include <chrono>
#include <concepts>
#include <string>
#include <utility>

namespace tertulia::detail {

/// Rejects a request that no model can answer.
/// @errors throws `invalid_argument`.
void check_request(const ai::generate_request& request);

/// Records a request on the span of its model.
void note_request(context ctx, const ai::generate_request& request);

/// Records an answer on the span of its model.
void note_answer(context ctx, const ai::model_response& answer);

/// Wrapper of a model function: rejects invalid requests, streams the part of
/// the answer that the function has not streamed, and measures the time.
template <class Body>
class model_body {
public:
  explicit model_body(Body body) : body_(std::move(body)) {}

  task<ai::model_response>
  operator()(context ctx, ai::generate_request request, input<nothing>,
             output<ai::model_response_chunk> out) const {
    check_request(request);
    note_request(ctx, request);
    auto& clock = ctx.system().clock();
    const auto begin = clock.now();
    streamed_answer streamed;
    const auto to = detail::access::make<ai::model_output>(out, streamed);
    auto result = co_await body_(ctx, std::move(request), to);
    const std::chrono::duration<double, std::milli> spent = clock.now() - begin;
    result.latency_ms = spent.count();
    note_answer(ctx, result);
    if (result.message)
      if (auto rest = streamed.rest_of(*result.message))
        co_await out.send(std::move(*rest));
    co_return result;
  }

private:
  Body body_;
};

} // namespace tertulia::detail

namespace tertulia::ai {

/// Function that can implement a model: a coroutine
/// `task<model_response>(context, generate_request, model_output)`.
template <class Body>
concept model_function = requires(const Body& body, context ctx,
                                  generate_request request, model_output out) {
  { body(ctx, std::move(request), out) } -> std::same_as<task<model_response>>;
};

/// Defines a model and registers it as `/model/<name>`: an action that is
/// opened with a `generate_request`, streams `model_response_chunk`s and ends
/// with a `model_response`.
///
/// ```
/// auto parrot = ai::define_model(
///   rt, "parrot",
///   [](tertulia::context, ai::generate_request asked,
///      ai::model_output out) -> tertulia::task<ai::model_response> {
///     auto heard = asked.messages.back().text();
///     co_await out.send_text(heard);
///     co_return ai::model_response{ai::model_text(heard)};
///   });
/// ```
///
/// The response contains the whole answer, whatever was streamed. The part that
/// was not streamed is sent at the end, so that the stream contains everything
/// exactly once. The latency is measured here and need not be set.
///
/// @param name        as for `runtime::define_bidi_action`.
/// @param body        runs on many actors at once, so its captures must be
///                    thread-safe. Its requests have been checked: the names of
///                    tools are unique, and there is a tool if one is required.
/// @param description for people; part of the descriptor.
/// @errors  `already_exists`; `invalid_argument` for a bad name.
/// @threads from any thread.
/// @design  docs/models.md#models.
template <class Body>
[[nodiscard]] model define_model(runtime& rt, std::string name, Body body,
                                 std::string description = {}) {
  static_assert(model_function<Body>,
                "the function of a model is a coroutine "
                "task<ai::model_response>(context, ai::generate_request, "
                "ai::model_output)");
  return model{detail::access::define(rt, "model", std::move(name),
                                      detail::model_body<Body>{std::move(body)},
                                      std::move(description))};
}

} // namespace tertulia::ai
