// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/detail/text.hpp>
#include <tertulia/json.hpp>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

#include <fmt/format.h>

namespace tertulia::detail {

namespace {

/// Returns whether a byte can be copied without a check of its neighbours.
constexpr bool is_plain_byte(unsigned char c) {
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
  while (i < text.size() && is_plain_byte(static_cast<unsigned char>(text[i])))
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
    default: out += "\\u00" + to_hex({&byte, 1});
  }
}

} // namespace

std::string in_quotes(std::string_view text) {
  constexpr std::size_t most = 64;
  std::string result = "\"";
  for (std::size_t i = 0; i < text.size() && i < most;) {
    const auto length = utf8_length(text.substr(i));
    if (length == 0)
      result += "\xef\xbf\xbd";
    else if (length == 1 && !is_plain_byte(static_cast<unsigned char>(text[i])))
      append_escape(result, text[i]);
    else
      result += text.substr(i, length);
    i += length == 0 ? 1 : length;
  }
  return result += text.size() > most ? "…\"" : "\"";
}

void write_text(std::string& out, std::string_view text,
                const json_path& path) {
  out += '"';
  for (std::size_t i = 0; i < text.size();) {
    const auto rest = text.substr(i);
    if (const auto plain = plain_prefix(rest); plain > 0) {
      out += rest.substr(0, plain);
      i += plain;
      continue;
    }
    const auto length = utf8_length(rest);
    if (length == 0)
      raise_mismatch(path, "UTF-8",
                     fmt::format("an invalid byte at offset {}", i));
    if (length == 1)
      append_escape(out, rest.front());
    else
      out += rest.substr(0, length);
    i += length;
  }
  out += '"';
}

namespace {

/// Formats the shortest digits as Go and ECMAScript do.
template <class Float>
void write_shortest(std::string& out, Float x, const json_path& path) {
  if (!std::isfinite(x))
    raise_mismatch(path, "a finite number",
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

void write_float(std::string& out, double x, const json_path& path) {
  write_shortest(out, x, path);
}

void write_float(std::string& out, float x, const json_path& path) {
  const auto size = out.size();
  write_shortest(out, x, path);
  // A reader rounds twice, first to a double. Only one float, 7.038531e-26,
  // then becomes its neighbour: it needs the digits of a double.
  double y = 0;
  std::from_chars(out.data() + size, out.data() + out.size(), y);
  if (nearest_float(y) != x) {
    out.resize(size);
    write_shortest(out, static_cast<double>(x), path);
  }
}

bool is_null_json(const json& x) noexcept {
  return x.is_null();
}

void write_json(std::string& out, const json& x, const json_path& path) {
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
      write_float(out, x.get_ref<const double&>(), path);
      break;
    case json::value_t::string:
      write_text(out, x.get_ref<const std::string&>(), path);
      break;
    case json::value_t::array:
      write_array(out, x.get_ref<const json::array_t&>(), path);
      break;
    case json::value_t::object:
      check_depth(path);
      out += '{';
      for (const auto& [key, value] : x.get_ref<const json::object_t&>())
        write_entry(out, key, value, path);
      out += '}';
      break;
    default: raise_mismatch(path, "a JSON value", x);
  }
}

} // namespace tertulia::detail
