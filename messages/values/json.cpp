// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/detail/hex.hpp>
#include <tertulia/json.hpp>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

#include <boost/core/demangle.hpp>

namespace tertulia {

namespace {

/// Returns the length of the UTF-8 sequence at the start of `text`, 0 if it is
/// invalid: overlong forms, surrogates and numbers above U+10FFFF are invalid.
/// @pre `text` is not empty.
std::size_t utf8_length(std::string_view text) {
  const auto at = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
  };
  const auto tail = [&](std::size_t i) { return (at(i) & 0xc0) == 0x80; };
  const auto lead = at(0);
  if (lead < 0x80)
    return 1;
  if (lead < 0xc2)
    return 0;
  if (lead < 0xe0)
    return tail(1) ? 2 : 0;
  if (lead < 0xf0) {
    const auto fits
      = (lead != 0xe0 || at(1) >= 0xa0) && (lead != 0xed || at(1) < 0xa0);
    return fits && tail(1) && tail(2) ? 3 : 0;
  }
  if (lead < 0xf5) {
    const auto fits
      = (lead != 0xf0 || at(1) >= 0x90) && (lead != 0xf4 || at(1) < 0x90);
    return fits && tail(1) && tail(2) && tail(3) ? 4 : 0;
  }
  return 0;
}

/// Returns whether a byte can be copied without a check of its neighbours.
constexpr bool is_plain(unsigned char c) {
  return c >= 0x20 && c < 0x80 && c != '"' && c != '\\';
}

/// Returns the number of plain bytes at the start of `text`; tests eight at a
/// time.
std::size_t plain_prefix(std::string_view text) {
  constexpr std::uint64_t ones = 0x0101010101010101;
  constexpr std::uint64_t highs = 0x8080808080808080;
  std::size_t i = 0;
  for (; i + 8 <= text.size(); i += 8) {
    std::uint64_t word;
    std::memcpy(&word, text.data() + i, 8);
    // The high bit of a byte is set if the byte is a control character, a quote
    // or a backslash.
    const auto control = word - ones * 0x20;
    const auto quote = (word ^ ones * '"') - ones;
    const auto backslash = (word ^ ones * '\\') - ones;
    if (((word | control | quote | backslash) & highs) != 0)
      break;
  }
  while (i < text.size() && is_plain(static_cast<unsigned char>(text[i])))
    ++i;
  return i;
}

void append_escape(std::string& out, char c) {
  const auto byte = static_cast<std::uint8_t>(c);
  switch (c) {
    case '"': out += "\\\""; return;
    case '\\': out += "\\\\"; return;
    case '\b': out += "\\b"; return;
    case '\f': out += "\\f"; return;
    case '\n': out += "\\n"; return;
    case '\r': out += "\\r"; return;
    case '\t': out += "\\t"; return;
    default: out += "\\u00" + detail::to_hex({&byte, 1});
  }
}

/// Appends `text` in a form for error messages: at most 64 bytes, escaped, with
/// a replacement character for each byte that is not UTF-8.
void append_shown(std::string& out, std::string_view text) {
  constexpr std::size_t most = 64;
  const auto cut = text.size() > most;
  for (std::size_t i = 0; i < text.size() && i < most;) {
    const auto length = utf8_length(text.substr(i));
    if (length == 0)
      out += "\xef\xbf\xbd";
    else if (length == 1 && !is_plain(static_cast<unsigned char>(text[i])))
      append_escape(out, text[i]);
    else
      out += text.substr(i, length);
    i += length == 0 ? 1 : length;
  }
  if (cut)
    out += "…";
}

} // namespace

// -- positions and errors -----------------------------------------------------

std::string json_path::to_string() const {
  if (parent_ == nullptr)
    return "$";
  auto result = parent_->to_string();
  if (index_ != no_index) {
    result += '[';
    detail::write_integer(result, index_);
    return result += ']';
  }
  const auto is_word = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')
           || (c >= '0' && c <= '9') || c == '_';
  };
  if (!key_.empty() && std::all_of(key_.begin(), key_.end(), is_word)) {
    result += '.';
    append_shown(result, key_);
    return result;
  }
  return result.append(1, '[').append(detail::in_quotes(key_)).append(1, ']');
}

void raise_mismatch(const json_path& at, std::string_view expected,
                    std::string_view found) {
  const auto path = at.to_string();
  std::string message = path + ": expected ";
  message.append(expected).append(", found ").append(found);
  const json details
    = {{"expected", std::string{expected}}, {"path", std::string{path}}};
  throw status_error{errc::invalid_argument, message,
                     details.dump(-1, ' ', false,
                                  json::error_handler_t::replace)};
}

namespace detail {

std::string in_words(const json& x) {
  std::string result;
  switch (x.type()) {
    case json::value_t::null: return "null";
    case json::value_t::boolean: return "a boolean";
    case json::value_t::object: return "an object";
    case json::value_t::array: return "an array";
    case json::value_t::string: return "a string";
    case json::value_t::number_integer:
      write_integer(result, x.get_ref<const std::int64_t&>());
      return result;
    case json::value_t::number_unsigned:
      write_integer(result, x.get_ref<const std::uint64_t&>());
      return result;
    case json::value_t::number_float:
      if (std::isfinite(x.get_ref<const double&>()))
        write_float(result, x.get_ref<const double&>(), json_path{});
      else
        result = "a number that is not finite";
      return result;
    default: return "a value that JSON does not have";
  }
}

std::string in_quotes(std::string_view text) {
  std::string result = "\"";
  append_shown(result, text);
  return result += '"';
}

void raise_too_deep(const json_path& at) {
  std::string expected = "at most ";
  write_integer(expected, max_json_depth);
  raise_mismatch(at, expected + " levels of arrays and objects", "more");
}

void raise_no_enumerator(const json_path& at, long long value) {
  std::string found;
  write_integer(found, value);
  raise_mismatch(at, "a described enumerator", found);
}

std::string short_type_name(std::type_index type) {
  const auto name = boost::core::demangle(type.name());
  const auto end = std::min(name.find('<'), name.size());
  const auto colon = name.rfind(':', end);
  const auto begin = colon == std::string::npos ? 0 : colon + 1;
  return name.substr(begin, end - begin);
}

// -- writing ------------------------------------------------------------------

void write_text(std::string& out, std::string_view text, const json_path& at) {
  out += '"';
  for (std::size_t i = 0; i < text.size();) {
    const auto rest = text.substr(i);
    if (const auto plain = plain_prefix(rest); plain > 0) {
      out += rest.substr(0, plain);
      i += plain;
      continue;
    }
    const auto length = utf8_length(rest);
    if (length == 0) {
      std::string found = "an invalid byte at offset ";
      write_integer(found, i);
      raise_mismatch(at, "UTF-8", found);
    }
    if (length == 1)
      append_escape(out, rest.front());
    else
      out += rest.substr(0, length);
    i += length;
  }
  out += '"';
}

namespace {

/// Returns `x` rounded to a float, an infinity if it is out of range.
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

/// Formats the shortest digits as Go and ECMAScript do.
template <class Float>
void write_shortest(std::string& out, Float x, const json_path& at) {
  if (!std::isfinite(x))
    raise_mismatch(at, "a finite number",
                   std::isnan(x) ? "NaN" : "an infinity");
  if (x == 0) {
    // untyped readers parse "-0" as the integer 0
    out += std::signbit(x) ? "-0.0" : "0";
    return;
  }
  char text[48]; // "d.ddde-ddd"
  const auto end
    = std::to_chars(text, std::end(text), x, std::chars_format::scientific).ptr;
  std::string_view rest{text, static_cast<std::size_t>(end - text)};
  if (rest.front() == '-') {
    out += '-';
    rest.remove_prefix(1);
  }
  const auto e = rest.find('e');
  char digits[24];
  std::size_t size = 0;
  for (auto c : rest.substr(0, e))
    if (c != '.')
      digits[size++] = c;
  auto exponent = 0;
  std::from_chars(rest.data() + e + 2, rest.data() + rest.size(), exponent);
  const auto is_small = rest[e + 1] == '-';
  const auto power = static_cast<std::size_t>(exponent);
  if ((is_small && power > 6) || power > 20) {
    out += digits[0];
    if (size > 1)
      out.append(1, '.').append(digits + 1, size - 1);
    out += is_small ? "e-" : "e+";
    write_integer(out, power);
  } else if (is_small) {
    out.append("0.").append(power - 1, '0').append(digits, size);
  } else if (size <= power + 1) {
    out.append(digits, size).append(power + 1 - size, '0');
  } else {
    out.append(digits, power + 1).append(1, '.');
    out.append(digits + power + 1, size - power - 1);
  }
}

} // namespace

void write_float(std::string& out, double x, const json_path& at) {
  write_shortest(out, x, at);
}

void write_float(std::string& out, float x, const json_path& at) {
  const auto size = out.size();
  write_shortest(out, x, at);
  // A reader rounds twice, first to a double. Only one float, 7.038531e-26,
  // then becomes its neighbour: it needs the digits of a double.
  double y = 0;
  std::from_chars(out.data() + size, out.data() + out.size(), y);
  if (nearest_float(y) != x) {
    out.resize(size);
    write_shortest(out, static_cast<double>(x), at);
  }
}

void write_json(std::string& out, const json& x, const json_path& at) {
  switch (x.type()) {
    case json::value_t::null: out += "null"; break;
    case json::value_t::boolean:
      out += x.get_ref<const bool&>() ? "true" : "false";
      break;
    case json::value_t::number_integer:
      write_integer(out, x.get_ref<const std::int64_t&>());
      break;
    case json::value_t::number_unsigned:
      write_integer(out, x.get_ref<const std::uint64_t&>());
      break;
    case json::value_t::number_float:
      write_float(out, x.get_ref<const double&>(), at);
      break;
    case json::value_t::string:
      write_text(out, x.get_ref<const std::string&>(), at);
      break;
    case json::value_t::array:
      write_array(out, x.get_ref<const json::array_t&>(), at);
      break;
    case json::value_t::object:
      check_depth(at);
      out += '{';
      for (const auto& [key, value] : x.get_ref<const json::object_t&>())
        write_entry(out, key, value, at);
      out += '}';
      break;
    default: raise_mismatch(at, "a JSON value", x);
  }
}

// -- reading ------------------------------------------------------------------

namespace {

template <class Json>
Json parsed(std::string_view text) {
  check_nesting(text);
  try {
    return Json::parse(text);
  } catch (const typename Json::parse_error& e) {
    std::string found = "an error at byte ";
    write_integer(found, e.byte);
    raise_mismatch({}, "JSON", found);
  } catch (const typename Json::out_of_range&) {
    raise_mismatch({}, "JSON", "a number beyond the range of a double");
  }
}

constexpr double last_exact_integer = 9007199254740992; // 2^53

[[noreturn]] void raise_no_integer(const json_path& at, std::int64_t lowest,
                                   std::uint64_t highest, const json& from) {
  std::string expected = "an integer";
  if (from.is_number()) {
    expected += " from ";
    write_integer(expected, lowest);
    expected += " to ";
    write_integer(expected, highest);
  }
  raise_mismatch(at, expected, from);
}

} // namespace

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

std::int64_t read_signed(const json& from, const json_path& at,
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
    raise_no_integer(at, lowest, static_cast<std::uint64_t>(highest), from);
  return result;
}

std::uint64_t read_unsigned(const json& from, const json_path& at,
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
    raise_no_integer(at, 0, highest, from);
  return result;
}

double read_double(const json& from, const json_path& at) {
  if (!from.is_number())
    raise_mismatch(at, "a number", from);
  const auto x = from.get<double>();
  if (!std::isfinite(x))
    raise_mismatch(at, "a finite number", from);
  return x;
}

float read_float(const json& from, const json_path& at) {
  const auto x = read_double(from, at);
  const auto result = nearest_float(x);
  if (std::isinf(result))
    raise_mismatch(at, "a number in the range of a float", from);
  return result;
}

const json& require_array(const json& from, const json_path& at) {
  if (!from.is_array())
    raise_mismatch(at, "an array", from);
  return from;
}

const json& require_array(const json& from, const json_path& at,
                          std::size_t size) {
  std::string expected = "an array of ";
  write_integer(expected, size);
  if (!from.is_array())
    raise_mismatch(at, expected, from);
  if (from.size() != size) {
    std::string found = "one of ";
    write_integer(found, from.size());
    raise_mismatch(at, expected, found);
  }
  return from;
}

const json& require_object(const json& from, const json_path& at) {
  if (!from.is_object())
    raise_mismatch(at, "an object", from);
  return from;
}

const std::string& require_string(const json& from, const json_path& at) {
  if (!from.is_string())
    raise_mismatch(at, "a string", from);
  return from.get_ref<const std::string&>();
}

} // namespace detail

} // namespace tertulia
