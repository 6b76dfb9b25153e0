// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/ai/define_evaluator.hpp>

#include <utility>

namespace tertulia::detail {

evaluation_score score_of(const ai::evaluation& x) {
  evaluation_score result;
  result.score = x.score;
  result.status = !x.passed ? "UNKNOWN" : *x.passed ? "PASS" : "FAIL";
  if (!x.reasoning.empty())
    result.details["reasoning"] = x.reasoning;
  return result;
}

evaluation_score failed_score(std::string why) {
  evaluation_score result;
  result.status = "UNKNOWN";
  result.error = std::move(why);
  return result;
}

} // namespace tertulia::detail
