// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/json.hpp>

#include <cmath>
#include <cstdint>
#include <limits>

#include <fmt/format.h>

namespace tertulia::detail {

namespace {

template <class Json>
Json parsed(std::string_view text) {
  check_nesting(text);
  try {
    return Json::parse(text);
  } catch (const typename Json::parse_error& e) {
    raise_mismatch({}, "JSON", fmt::format("an error at byte {}", e.byte));
  } catch (const typename Json::out_of_range&) {
    raise_mismatch({}, "JSON", "a number beyond the range of a double");
  }
}

constexpr double last_exact_integer = 9007199254740992; // 2^53

[[noreturn]] void raise_no_integer(const json_path& path, std::int64_t lowest,
                                   std::uint64_t highest, const json& from) {
  raise_mismatch(path,
                 from.is_number()
                   ? fmt::format("an integer from {} to {}", lowest, highest)
                   : "an integer",
                 from);
}

} // namespace

failed_reads::failed_reads() = default;

failed_reads::~failed_reads() = default;

const status_error* failed_reads::find(const json& from,
                                       std::type_index type) const {
  const auto i = errors_.find({&from, type});
  return i != errors_.end() ? &i->second : nullptr;
}

void failed_reads::add(const json& from, std::type_index type,
                       const status_error& error) {
  errors_.emplace(std::pair{&from, type}, error);
}

void check_nesting(std::string_view text) {
  std::size_t depth = 0;
  auto in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i)
    switch (text[i]) {
      case '\0': // the parser would treat it as the end of the text
        raise_mismatch({}, "JSON", "a zero byte");
      case '"': in_string = !in_string; break;
      case '\\': i += in_string ? 1 : 0; break;
      case '[':
      case '{':
        if (!in_string && ++depth > max_json_depth)
          raise_too_deep({});
        break;
      case ']':
      case '}':
        if (!in_string && depth > 0)
          --depth;
        break;
      default: break;
    }
}

json parse_document(std::string_view text) {
  return parsed<json>(text);
}

std::shared_ptr<const json> parse_shared_document(std::string_view text) {
  return std::make_shared<const json>(parse_document(text));
}

nlohmann::ordered_json parse_ordered_document(std::string_view text) {
  return parsed<nlohmann::ordered_json>(text);
}

json document_or_null(std::string_view text) {
  try {
    return parse_document(text);
  } catch (const status_error&) {
    return nullptr;
  }
}

std::int64_t read_signed(const json& from, const json_path& path,
                         std::int64_t lowest, std::int64_t highest) {
  std::int64_t result = 0;
  auto fits = false;
  if (from.is_number_unsigned()) {
    const auto x = from.get_ref<const std::uint64_t&>();
    fits = std::in_range<std::int64_t>(x);
    result = static_cast<std::int64_t>(x);
  } else if (from.is_number_integer()) {
    fits = true;
    result = from.get_ref<const std::int64_t&>();
  } else if (from.is_number_float()) {
    const auto x = from.get_ref<const double&>();
    fits = std::abs(x) <= last_exact_integer && std::trunc(x) == x;
    result = fits ? static_cast<std::int64_t>(x) : 0;
  }
  if (!fits || result < lowest || result > highest)
    raise_no_integer(path, lowest, static_cast<std::uint64_t>(highest), from);
  return result;
}

std::uint64_t read_unsigned(const json& from, const json_path& path,
                            std::uint64_t highest) {
  std::uint64_t result = 0;
  auto fits = false;
  if (from.is_number_unsigned()) {
    fits = true;
    result = from.get_ref<const std::uint64_t&>();
  } else if (from.is_number_integer()) {
    const auto x = from.get_ref<const std::int64_t&>();
    fits = x >= 0;
    result = static_cast<std::uint64_t>(x);
  } else if (from.is_number_float()) {
    const auto x = from.get_ref<const double&>();
    fits = x >= 0 && x <= last_exact_integer && std::trunc(x) == x;
    result = fits ? static_cast<std::uint64_t>(x) : 0;
  }
  if (!fits || result > highest)
    raise_no_integer(path, 0, highest, from);
  return result;
}

bool read_bool(const json& from, const json_path& path) {
  if (!from.is_boolean())
    raise_mismatch(path, "a boolean", from);
  return from.get_ref<const bool&>();
}

double read_double(const json& from, const json_path& path) {
  if (!from.is_number())
    raise_mismatch(path, "a number", from);
  const auto x = from.get<double>();
  if (!std::isfinite(x))
    raise_mismatch(path, "a finite number", from);
  return x;
}

float nearest_float(double x) {
  constexpr auto highest = std::numeric_limits<float>::max();
  // values up to half a unit above the highest one round down to it
  constexpr auto limit = static_cast<double>(highest) * (1 + 0x1p-25);
  if (std::abs(x) <= static_cast<double>(highest))
    return static_cast<float>(x);
  const auto result
    = std::abs(x) < limit ? highest : std::numeric_limits<float>::infinity();
  return std::signbit(x) ? -result : result;
}

float read_float(const json& from, const json_path& path) {
  const auto x = read_double(from, path);
  const auto result = nearest_float(x);
  if (std::isinf(result))
    raise_mismatch(path, "a number in the range of a float", from);
  return result;
}

const json& require_array(const json& from, const json_path& path) {
  if (!from.is_array())
    raise_mismatch(path, "an array", from);
  return from;
}

const json& require_array(const json& from, const json_path& path,
                          std::size_t size) {
  const auto expected = fmt::format("an array of {}", size);
  if (!from.is_array())
    raise_mismatch(path, expected, from);
  if (from.size() != size)
    raise_mismatch(path, expected, fmt::format("one of {}", from.size()));
  return from;
}

const json& require_object(const json& from, const json_path& path) {
  if (!from.is_object())
    raise_mismatch(path, "an object", from);
  return from;
}

const std::string& require_string(const json& from, const json_path& path) {
  if (!from.is_string())
    raise_mismatch(path, "a string", from);
  return from.get_ref<const std::string&>();
}

} // namespace tertulia::detail

template class nlohmann::basic_json<>;
template nlohmann::json nlohmann::basic_json<>::parse<const char*>(
  const char*, const char*, nlohmann::json::parser_callback_t, bool, bool);
