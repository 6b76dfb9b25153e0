// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/bidi_action.hpp>
#include <tertulia/context.hpp>
#include <tertulia/describe.hpp>
#include <tertulia/detail/access.hpp>
#include <tertulia/json.hpp>
#include <tertulia/nothing.hpp>
#include <tertulia/runtime.hpp>
#include <tertulia/status_error.hpp>

#include <concepts>
#include <exception>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace tertulia::ai {

/// Output of an action for a known input, which an evaluator scores.
///
/// @threads a value.
// NOLINTNEXTLINE(bugprone-exception-escape): making JSON asserts
struct test_case {
  // NOLINTNEXTLINE(bugprone-exception-escape): making JSON asserts
  test_case() = default;

  std::string test_case_id;
  json input;
  json output; ///< null if the action has failed
  /// Documents that the action has used; null or an array.
  json context;
  /// Expected output; null if it is not known.
  json reference;
  std::vector<std::string> trace_ids;
};

BOOST_DESCRIBE_STRUCT(test_case, (),
                      (test_case_id, input, output, context, reference,
                       trace_ids))

/// Score of a test case.
///
/// @threads a value.
struct evaluation {
  evaluation() = default;

  std::optional<double> score;
  /// Whether the output is good enough; empty if the evaluator cannot tell.
  std::optional<bool> passed;
  /// Reason for the score, for people; may be empty.
  std::string reasoning;
};

} // namespace tertulia::ai

namespace tertulia::detail {

/// Request to an evaluator, as Genkit's tools send it.
struct evaluation_request {
  std::vector<ai::test_case> dataset;
  std::string eval_run_id;
};

BOOST_DESCRIBE_STRUCT(evaluation_request, (), (dataset, eval_run_id))

/// Score in an answer.
// NOLINTNEXTLINE(bugprone-exception-escape): making JSON asserts
struct evaluation_score {
  std::optional<double> score;
  std::string status; ///< `PASS`, `FAIL` or `UNKNOWN`
  std::string error;
  json details;
};

BOOST_DESCRIBE_STRUCT(evaluation_score, (), (score, status, error, details))

/// Answer for one test case.
struct evaluation_result {
  std::string test_case_id;
  evaluation_score evaluation;
};

BOOST_DESCRIBE_STRUCT(evaluation_result, (), (test_case_id, evaluation))

/// Returns an evaluation as Genkit's tools read it.
[[nodiscard]] evaluation_score score_of(const ai::evaluation& x);

/// Returns what they read of a test case whose evaluation has failed.
[[nodiscard]] evaluation_score failed_score(std::string why);

/// Body of the action of an evaluator.
template <class Body>
auto evaluator_body(Body body) {
  return [body = std::move(body)](
           context ctx, input<evaluation_request> in,
           output<nothing>) -> task<std::vector<evaluation_result>> {
    std::vector<evaluation_result> results;
    auto request = co_await in.next();
    if (!request)
      co_return results;
    for (auto& one : request->dataset) {
      evaluation_result result;
      result.test_case_id = one.test_case_id;
      try {
        auto scoring = body(ctx, std::move(one));
        const auto score = co_await std::move(scoring);
        result.evaluation = score_of(score);
      } catch (const status_error& x) {
        if (x.code() == errc::cancelled)
          throw;
        result.evaluation = failed_score(x.message());
      } catch (const std::exception& x) {
        result.evaluation = failed_score(x.what());
      }
      results.push_back(std::move(result));
    }
    co_return results;
  };
}

} // namespace tertulia::detail

namespace tertulia {

template <>
inline constexpr auto omitted_when_empty<ai::test_case> = std::tuple{
  &ai::test_case::output, &ai::test_case::context, &ai::test_case::reference,
  &ai::test_case::trace_ids};

template <>
inline constexpr auto omitted_when_empty<detail::evaluation_score> = std::tuple{
  &detail::evaluation_score::error, &detail::evaluation_score::details};

} // namespace tertulia

namespace tertulia::ai {

/// Function that can implement an evaluator: a coroutine
/// `task<evaluation>(context, test_case)`.
template <class Body>
concept evaluator_function
  = requires(const Body& body, context ctx, test_case x) {
  { body(ctx, std::move(x)) } -> std::same_as<task<evaluation>>;
};

/// Defines an evaluator and registers it as `/evaluator/<name>`: it scores what
/// an action has answered, for `eval:run` and `eval:flow` of Genkit's command
/// line.
///
/// ```
/// ai::define_evaluator(
///   rt, "polite",
///   [](tertulia::context, ai::test_case x) -> tertulia::task<ai::evaluation> {
///     ai::evaluation result;
///     result.passed = x.output.dump().find("please") != std::string::npos;
///     co_return result;
///   });
/// ```
///
/// An evaluation that fails is reported for its test case, and the others go
/// on.
///
/// @param name        as for `runtime::define_bidi_action`.
/// @param body        runs on many actors at once, so its captures must be
///                    thread-safe.
/// @param description for people; part of the descriptor.
/// @returns the handle of the action.
/// @errors  `already_exists`; `invalid_argument` for a bad name.
/// @threads from any thread.
/// @design  docs/genkit.md#genkits-developer-tools.
template <class Body>
auto define_evaluator(runtime& rt, std::string name, Body body,
                      std::string description = {}) {
  static_assert(evaluator_function<Body>,
                "the function of an evaluator is a coroutine "
                "task<ai::evaluation>(context, ai::test_case)");
  return tertulia::detail::access::define(
    rt, "evaluator", std::move(name),
    tertulia::detail::evaluator_body(std::move(body)), std::move(description));
}

} // namespace tertulia::ai
