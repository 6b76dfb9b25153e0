// SPDX-License-Identifier: BSD-3-Clause

#include "retry_policy.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <string>

namespace tertulia::openai {

namespace {

constexpr std::int64_t longest = 366LL * 24 * 3600; // upper limit, in seconds

std::optional<int> number(std::string_view text) {
  int result = 0;
  const auto* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, result);
  if (parsed.ec != std::errc{} || parsed.ptr != end || result < 0)
    return std::nullopt;
  return result;
}

/// Parses `Sun, 06 Nov 1994 08:49:37 GMT`, the only form that is still written.
std::optional<std::chrono::sys_seconds> parse_date(std::string_view text) {
  constexpr std::array<std::string_view, 12> months{"Jan", "Feb", "Mar", "Apr",
                                                    "May", "Jun", "Jul", "Aug",
                                                    "Sep", "Oct", "Nov", "Dec"};
  if (text.size() != 29 || text.substr(3, 2) != ", " || !text.ends_with(" GMT")
      || text[19] != ':' || text[22] != ':')
    return std::nullopt;
  const auto day = number(text.substr(5, 2));
  const auto month = std::find(months.begin(), months.end(), text.substr(8, 3));
  const auto year = number(text.substr(12, 4));
  const auto hour = number(text.substr(17, 2));
  const auto minute = number(text.substr(20, 2));
  const auto second = number(text.substr(23, 2));
  if (!day || month == months.end() || !year || !hour || !minute || !second)
    return std::nullopt;
  using namespace std::chrono;
  const auto index = static_cast<unsigned>(month - months.begin()) + 1;
  const year_month_day date{std::chrono::year{*year}, std::chrono::month{index},
                            std::chrono::day{static_cast<unsigned>(*day)}};
  if (!date.ok())
    return std::nullopt;
  return sys_days{date} + hours{*hour} + minutes{*minute} + seconds{*second};
}

} // namespace

bool is_worth_a_retry(unsigned status) noexcept {
  return status == 429 || status == 500 || status == 502 || status == 503
         || status == 504;
}

std::optional<caf::timespan>
parse_retry_after(std::string_view text,
                  std::chrono::system_clock::time_point now) {
  using std::chrono::seconds;
  while (text.starts_with(' '))
    text.remove_prefix(1);
  while (text.ends_with(' '))
    text.remove_suffix(1);
  if (text.empty())
    return std::nullopt;
  if (text.find_first_not_of("0123456789") == std::string_view::npos) {
    std::int64_t result = longest;
    if (text.size() < 10)
      std::from_chars(text.data(), text.data() + text.size(), result);
    return caf::timespan{seconds{std::min(result, longest)}};
  }
  const auto date = parse_date(text);
  if (!date)
    return std::nullopt;
  // In seconds, because nanoseconds overflow in the year 2262.
  const auto left = *date - std::chrono::floor<seconds>(now);
  return caf::timespan{std::clamp(left, seconds{0}, seconds{longest})};
}

std::optional<caf::timespan>
pause_before(int retry, std::optional<caf::timespan> asked, double fraction,
             const ai::openai_options& options) {
  if (retry >= options.max_retries)
    return std::nullopt;
  if (asked && *asked > options.max_retry_after)
    return std::nullopt;
  auto pause = options.first_retry_after;
  for (int i = 0; i < retry && pause < options.max_retry_after; ++i)
    pause *= 2;
  pause = std::min(pause, options.max_retry_after);
  const auto half = static_cast<double>(pause.count()) / 2;
  const caf::timespan with_jitter{
    static_cast<caf::timespan::rep>(half + half * fraction)};
  return asked ? std::max(*asked, with_jitter) : with_jitter;
}

} // namespace tertulia::openai
