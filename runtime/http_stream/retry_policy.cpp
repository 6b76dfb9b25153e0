// SPDX-License-Identifier: BSD-3-Clause

#include "retry_policy.hpp"

#include <algorithm>

namespace tertulia::http {

bool is_worth_a_retry(unsigned status) noexcept {
  return status == 429 || status == 500 || status == 502 || status == 503
         || status == 504;
}

std::optional<caf::timespan> pause_before(int retry, caf::timespan asked,
                                          double fraction,
                                          const http_options& options) {
  if (retry >= options.max_retries)
    return std::nullopt;
  if (asked > options.max_retry_after)
    return std::nullopt;
  auto pause = options.first_retry_after;
  for (int i = 0; i < retry && pause < options.max_retry_after; ++i)
    pause *= 2;
  pause = std::min(pause, options.max_retry_after);
  const auto half = static_cast<double>(pause.count()) / 2;
  const caf::timespan with_jitter{
    static_cast<caf::timespan::rep>(half + half * fraction)};
  return std::max(asked, with_jitter);
}

} // namespace tertulia::http
