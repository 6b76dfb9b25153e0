// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/detail/json_std.hpp>
#include <tertulia/json.hpp>

#include <cstddef>
#include <optional>
#include <string_view>

#include <fmt/format.h>

namespace tertulia::detail {

namespace {

constexpr std::uint64_t nano = 1'000'000'000;

/// Duration with a sign, to the nanosecond.
struct span_of_time {
  bool is_negative = false;
  std::uint64_t seconds = 0;
  std::uint64_t nanoseconds = 0;
};

std::string to_iso(const span_of_time& x) {
  std::string result = x.is_negative ? "-PT" : "PT";
  const auto hours = x.seconds / 3600;
  const auto minutes = x.seconds / 60 % 60;
  const auto seconds = x.seconds % 60;
  if (hours > 0)
    result += fmt::format("{}H", hours);
  if (minutes > 0)
    result += fmt::format("{}M", minutes);
  if (x.nanoseconds > 0) {
    result += fmt::format("{}.{:09}", seconds, x.nanoseconds);
    result.resize(result.find_last_not_of('0') + 1);
    result += 'S';
  } else if (seconds > 0 || x.seconds == 0) {
    result += fmt::format("{}S", seconds);
  }
  return result;
}

/// @returns empty if the seconds exceed the range of the type.
std::optional<span_of_time> of_count(std::int64_t count, duration_unit unit) {
  span_of_time result;
  result.is_negative = count < 0;
  const auto size = result.is_negative ? ~static_cast<std::uint64_t>(count) + 1
                                       : static_cast<std::uint64_t>(count);
  std::uint64_t product = 0;
  if (__builtin_mul_overflow(size, unit.num, &product))
    return std::nullopt;
  result.seconds = product / unit.den;
  result.nanoseconds = product % unit.den * (nano / unit.den);
  return result;
}

bool is_digit(char c) noexcept {
  return c >= '0' && c <= '9';
}

/// Reads the parts of a duration from the beginning of its text.
class scanner {
public:
  explicit scanner(std::string_view text) noexcept : rest_(text) {}

  bool take(char c) {
    if (rest_.empty() || rest_.front() != c)
      return false;
    rest_.remove_prefix(1);
    return true;
  }

  /// Takes `<number><mark>` if it is next, and adds it.
  /// @returns false if the value is out of range.
  bool take_part(char mark, std::uint64_t seconds) {
    const auto digits = count_digits(0);
    if (digits == 0 || digits == rest_.size() || rest_[digits] != mark)
      return true;
    std::uint64_t value = 0;
    if (!read(digits, value) || __builtin_mul_overflow(value, seconds, &value)
        || __builtin_add_overflow(sum.seconds, value, &sum.seconds))
      return false;
    rest_.remove_prefix(digits + 1);
    ++parts;
    return true;
  }

  /// Takes seconds with or without decimals.
  bool take_seconds() {
    const auto digits = count_digits(0);
    if (digits == 0 || digits == rest_.size() || rest_[digits] != '.')
      return take_part('S', 1);
    const auto decimals = count_digits(digits + 1);
    const auto end = digits + 1 + decimals;
    if (decimals == 0 || end == rest_.size() || rest_[end] != 'S')
      return true;
    std::uint64_t value = 0;
    if (!read(digits, value)
        || __builtin_add_overflow(sum.seconds, value, &sum.seconds))
      return false;
    for (std::size_t i = 0; i < decimals || i < 9; ++i) {
      const auto digit = i < decimals ? rest_[digits + 1 + i] - '0' : 0;
      if (i < 9)
        sum.nanoseconds
          = sum.nanoseconds * 10 + static_cast<std::uint64_t>(digit);
      else if (digit != 0)
        return false; // below one nanosecond
    }
    rest_.remove_prefix(end + 1);
    ++parts;
    return true;
  }

  [[nodiscard]] bool at_end() const noexcept {
    return rest_.empty();
  }

  span_of_time sum;
  int parts = 0;

private:
  [[nodiscard]] std::size_t count_digits(std::size_t from) const noexcept {
    auto end = from;
    while (end < rest_.size() && is_digit(rest_[end]))
      ++end;
    return end - from;
  }

  bool read(std::size_t digits, std::uint64_t& to) const noexcept {
    for (std::size_t i = 0; i < digits; ++i)
      if (__builtin_mul_overflow(to, 10, &to)
          || __builtin_add_overflow(
            to, static_cast<std::uint64_t>(rest_[i] - '0'), &to))
        return false;
    return true;
  }

  std::string_view rest_;
};

/// @returns empty for text that is not a duration, or is out of range.
std::optional<span_of_time> parse_iso(std::string_view text) {
  scanner in{text};
  in.sum.is_negative = in.take('-');
  constexpr std::uint64_t day = 86'400;
  if (!in.take('P') || !in.take_part('W', 7 * day) || !in.take_part('D', day))
    return std::nullopt;
  if (in.take('T')) {
    const auto before = in.parts;
    if (!in.take_part('H', 3600) || !in.take_part('M', 60) || !in.take_seconds()
        || in.parts == before)
      return std::nullopt;
  }
  if (in.parts == 0 || !in.at_end())
    return std::nullopt;
  return in.sum;
}

/// @returns empty for a value that is not a multiple of the unit in the range.
std::optional<std::int64_t> to_count(const span_of_time& x, duration_unit unit,
                                     std::int64_t lowest,
                                     std::int64_t highest) {
  const auto finest = nano / unit.den;
  std::uint64_t parts = 0;
  if (x.nanoseconds % finest != 0
      || __builtin_mul_overflow(x.seconds, unit.den, &parts)
      || __builtin_add_overflow(parts, x.nanoseconds / finest, &parts)
      || parts % unit.num != 0)
    return std::nullopt;
  const auto size = parts / unit.num;
  const auto most = x.is_negative ? ~static_cast<std::uint64_t>(lowest) + 1
                                  : static_cast<std::uint64_t>(highest);
  if (size > most)
    return std::nullopt;
  return static_cast<std::int64_t>(x.is_negative ? ~size + 1 : size);
}

} // namespace

void write_duration(std::string& out, std::int64_t count, duration_unit unit,
                    const json_path& path) {
  const auto value = of_count(count, unit);
  if (!value)
    raise_mismatch(path, "a duration of at most 2^64 seconds",
                   std::string_view{"a longer one"});
  out += fmt::format("\"{}\"", to_iso(*value));
}

std::int64_t read_duration(const json& from, const json_path& path,
                           duration_unit unit, std::int64_t lowest,
                           std::int64_t highest) {
  const auto& text = require_string(from, path);
  const auto value = parse_iso(text);
  if (!value)
    raise_mismatch(path, "a duration as PT1H30M or PT0.25S", in_quotes(text));
  if (const auto count = to_count(*value, unit, lowest, highest))
    return *count;
  raise_mismatch(path,
                 fmt::format("a multiple of {} that the type has room for",
                             to_iso(of_count(1, unit).value())),
                 in_quotes(text));
}

json schema_of_strings::schema() {
  return {{"type", "string"}};
}

// Not the format "duration", which has neither fractions nor a sign.

json schema_of_seconds::schema() {
  return {{"type", "string"},
          {"description", "ISO 8601 duration, such as PT90S"}};
}

json schema_of_fractions::schema() {
  return {{"type", "string"},
          {"description", "ISO 8601 duration, such as PT1.5S"}};
}

const std::string& require_path(const json& from, const json_path& path) {
  const auto& text = require_string(from, path);
  if (text.find('\0') != std::string::npos)
    raise_mismatch(path, "a path without NUL", in_quotes(text));
  return text;
}

} // namespace tertulia::detail
