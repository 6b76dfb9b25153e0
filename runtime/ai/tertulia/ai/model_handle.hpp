// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/ai/generate_request.hpp>
#include <tertulia/ai/model.hpp>
#include <tertulia/bidi_action.hpp>
#include <tertulia/descriptor.hpp>
#include <tertulia/detail/build.hpp>
#include <tertulia/detail/compiled_json.hpp>
#include <tertulia/nothing.hpp>

#include <functional>
#include <type_traits>
#include <utility>

namespace tertulia::ai {

/// Callback for the chunks of an answer; its task is awaited before the next
/// one.
using chunk_callback = std::function<task<>(model_response_chunk)>;

/// Handle of a model, returned by `define_model` and its siblings.
///
/// ```
/// auto answer = co_await model.generate(ctx, ai::generate_request{messages});
/// ```
///
/// @threads  all members; cheap to copy.
/// @lifetime as `bidi_action`.
/// @design   docs/models.md#models.
class model {
public:
  /// Action that is opened with the request and has no inputs.
  using action_type = bidi_action<generate_request, nothing, model_response,
                                  model_response_chunk>;

  /// Makes a handle of a model from a handle of its action, such as one of
  /// another node.
  explicit model(action_type what) : action_(std::move(what)) {}

  /// Returns its name, and the schemas of its request and its results.
  [[nodiscard]] const descriptor& info() const noexcept {
    return action_.info();
  }

  /// Returns the model as an action, for clients that are threads or actors.
  [[nodiscard]] const action_type& action() const noexcept {
    return action_;
  }

  /// Lets the model answer as a call of the body: under a child span of the
  /// body's span, and cancelled with the body.
  ///
  /// @param hear takes each `model_response_chunk` as it arrives. Its result,
  ///             unless void, is awaited before the next one is read; a model
  ///             that is a window ahead waits, too.
  /// @errors errors of the model, after the chunks before them;
  ///         `invalid_argument` for an invalid request; errors of `hear`, which
  ///         cancel the model; `cancelled`.
  template <class Hear>
  [[nodiscard]] task<model_response>
  generate(const context& ctx, generate_request request, Hear&& hear) const {
    detail::check_awaited_arguments<Hear>();
    return streamed<std::decay_t<Hear>>(ctx, action_, std::move(request),
                                        std::forward<Hear>(hear));
  }

  /// Lets the model answer without streaming.
  /// @errors errors of the model; `invalid_argument` for an invalid request;
  ///         `cancelled`.
  [[nodiscard]] task<model_response> generate(const context& ctx,
                                              generate_request request) const {
    return at_once(ctx, action_, std::move(request));
  }

private:
  template <class Hear>
  static task<model_response>
  streamed(context ctx, action_type what, generate_request request, Hear hear) {
    const with_init init{std::move(request)};
    auto talk = co_await what.open(ctx, init);
    talk.close();
    while (auto chunk = co_await talk.next()) {
      if constexpr (std::is_void_v<decltype(hear(std::move(*chunk)))>)
        hear(std::move(*chunk));
      else
        co_await hear(std::move(*chunk));
    }
    co_return co_await talk.output();
  }

  static task<model_response> at_once(context ctx, action_type what,
                                      generate_request request);

  action_type action_;
};

extern template task<model_response>
  model::streamed<chunk_callback>(context, action_type, generate_request,
                                  chunk_callback);

} // namespace tertulia::ai
