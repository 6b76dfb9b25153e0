// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/json.hpp>
#include <tertulia/status_error.hpp>
#include <tertulia/timestamp.hpp>

#include <charconv>
#include <chrono>
#include <optional>

#include <fmt/format.h>

namespace tertulia {

namespace {

using namespace std::chrono;

/// Reads numbers and marks from the beginning of a text.
class scanner {
public:
  explicit scanner(std::string_view text) noexcept : rest_(text) {}

  /// Takes exactly `count` digits.
  int digits(std::size_t count) {
    int result = 0;
    if (rest_.size() < count)
      return fail();
    const auto* end = rest_.data() + count;
    const auto [at, error] = std::from_chars(rest_.data(), end, result);
    if (error != std::errc{} || at != end || rest_.front() == '-')
      return fail();
    rest_.remove_prefix(count);
    return result;
  }

  bool take(std::string_view any_of) {
    if (rest_.empty() || any_of.find(rest_.front()) == std::string_view::npos)
      return false;
    last_ = rest_.front();
    rest_.remove_prefix(1);
    return true;
  }

  void require(std::string_view any_of) {
    if (!take(any_of))
      fail();
  }

  [[nodiscard]] char last() const noexcept {
    return last_;
  }

  /// Takes the digits of a fraction; digits below one nanosecond are cut off.
  nanoseconds fraction() {
    std::int64_t result = 0;
    std::size_t count = 0;
    for (; take("0123456789"); ++count)
      if (count < 9)
        result = result * 10 + (last_ - '0');
    if (count == 0)
      fail();
    for (; count < 9; ++count)
      result *= 10;
    return nanoseconds{result};
  }

  [[nodiscard]] bool ok() const noexcept {
    return ok_ && rest_.empty();
  }

private:
  int fail() noexcept {
    ok_ = false;
    return 0;
  }

  std::string_view rest_;
  char last_ = 0;
  bool ok_ = true;
};

std::optional<timestamp> parse(std::string_view text) {
  scanner in{text};
  const auto y = in.digits(4);
  in.require("-");
  const auto m = in.digits(2);
  in.require("-");
  const auto d = in.digits(2);
  in.require("Tt ");
  const auto hour = in.digits(2);
  in.require(":");
  const auto minute = in.digits(2);
  in.require(":");
  const auto second = in.digits(2);
  const auto part = in.take(".") ? in.fraction() : nanoseconds{0};
  minutes offset{0};
  if (!in.take("Zz")) {
    in.require("+-");
    const auto sign = in.last() == '-' ? -1 : 1;
    const auto hours_off = in.digits(2);
    in.require(":");
    const auto minutes_off = in.digits(2);
    if (hours_off > 23 || minutes_off > 59)
      return std::nullopt;
    offset = minutes{sign * (hours_off * 60 + minutes_off)};
  }
  const year_month_day date{year{y}, month{static_cast<unsigned>(m)},
                            day{static_cast<unsigned>(d)}};
  // Outside these years nanoseconds since 1970 do not fit into 64 bits.
  if (!in.ok() || !date.ok() || y < 1678 || y > 2261 || hour > 23 || minute > 59
      || second > 60)
    return std::nullopt;
  return timestamp{sys_days{date}.time_since_epoch() + hours{hour}
                   + minutes{minute} + seconds{second} + part - offset};
}

} // namespace

std::string to_rfc3339(timestamp x) {
  const auto whole = floor<days>(x);
  const year_month_day date{sys_days{whole.time_since_epoch()}};
  const hh_mm_ss time{x - whole};
  auto result = fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:09}",
                            static_cast<int>(date.year()),
                            static_cast<unsigned>(date.month()),
                            static_cast<unsigned>(date.day()),
                            time.hours().count(), time.minutes().count(),
                            time.seconds().count(), time.subseconds().count());
  result.resize(result.find_last_not_of('0') + 1);
  if (result.back() == '.')
    result.pop_back();
  return result + 'Z';
}

timestamp parse_rfc3339(std::string_view text) {
  if (const auto result = parse(text))
    return *result;
  throw status_error{errc::invalid_argument,
                     "expected a time as 2026-11-21T10:54:21.5Z"};
}

void json_codec<timestamp>::write(std::string& out, timestamp x,
                                  const json_path& path) {
  detail::write_text(out, to_rfc3339(x), path);
}

timestamp json_codec<timestamp>::read(const json& from, const json_path& path) {
  const auto& text = detail::require_string(from, path);
  if (const auto result = parse(text))
    return *result;
  raise_mismatch(path, "a time as 2026-11-21T10:54:21.5Z",
                 detail::in_quotes(text));
}

json json_codec<timestamp>::schema() {
  return {{"type", "string"}, {"format", "date-time"}};
}

} // namespace tertulia
