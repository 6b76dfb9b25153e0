// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/ai/generate_request.hpp>
#include <tertulia/ai/model.hpp>
#include <tertulia/ai/model_handle.hpp>
#include <tertulia/context.hpp>
#include <tertulia/status.hpp>

#include <coroutine>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace tertulia::testing {

namespace detail {

inline ai::message scripted_message(ai::message x) {
  return x;
}

inline ai::message scripted_message(ai::part x) {
  ai::message result;
  result.role = ai::role::model;
  result.content.push_back(std::move(x));
  return result;
}

inline ai::message scripted_message(std::string text) {
  return ai::model_text(std::move(text));
}

inline ai::message scripted_message(const char* text) {
  return ai::model_text(text);
}

template <class T>
concept scripted_answer = requires(T x) {
  scripted_message(std::move(x));
};

} // namespace detail

/// Model that gives the answers of a script, in order, and keeps the requests.
///
/// ```
/// scripted_model model{ai::part::request("weather", {{"city", "Oslo"}}),
///                      "It is sunny."};
/// auto agent = ai::define_prompt_agent(rt, "guide", ai::prompt{model});
/// ```
///
/// Copies share the script. An answer ends with `finish_reason::stop` and has a
/// usage of 10 and 1 tokens. When the script is over, a request fails with
/// `out_of_range`.
///
/// @threads one at a time.
/// @design  docs/testing.md#models.
class scripted_model {
public:
  struct script {
    /// Answers, in order.
    std::vector<ai::message> answers;
    /// Requests so far.
    std::vector<ai::generate_request> asked;
    /// Whether the model streams the texts of its answers.
    bool streams = true;
  };

  /// @param answers each a message of the model, a part of one, or a text.
  template <detail::scripted_answer... Answers>
  explicit scripted_model(Answers... answers)
    : script_(std::make_shared<script>()) {
    (add(std::move(answers)), ...);
  }

  explicit scripted_model(std::shared_ptr<script> what)
    : script_(std::move(what)) {}

  // -- the script -------------------------------------------------------------

  template <detail::scripted_answer Answer>
  void add(Answer answer) {
    script_->answers.push_back(detail::scripted_message(std::move(answer)));
  }

  /// Returns the requests so far, oldest first.
  [[nodiscard]] const std::vector<ai::generate_request>&
  requests() const noexcept {
    return script_->asked;
  }

  // -- the model --------------------------------------------------------------

  template <class Hear>
  [[nodiscard]] task<ai::model_response>
  generate(const context&, ai::generate_request request, Hear hear) const {
    return say(script_, std::move(request), std::move(hear));
  }

  [[nodiscard]] task<ai::model_response>
  generate(const context& ctx, ai::generate_request request) const {
    return generate(ctx, std::move(request),
                    [](const auto&) { return std::suspend_never{}; });
  }

private:
  template <class Hear>
  static task<ai::model_response>
  say(std::shared_ptr<script> from, ai::generate_request request, Hear hear) {
    const auto at = from->asked.size();
    from->asked.push_back(std::move(request));
    if (at >= from->answers.size())
      throw status_error{errc::out_of_range, "the script is over"};
    ai::model_response result{from->answers[at], ai::finish_reason::stop};
    result.usage = ai::generation_usage{10, 1};
    if (from->streams) {
      ai::model_response_chunk chunk;
      chunk.content.push_back(ai::part::text(result.text()));
      auto received = hear(std::move(chunk));
      co_await std::move(received);
    }
    co_return result;
  }

  std::shared_ptr<script> script_;
};

} // namespace tertulia::testing
