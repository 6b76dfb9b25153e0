// SPDX-License-Identifier: BSD-3-Clause

#include "target.hpp"

#include <tertulia/detail/text.hpp>
#include <tertulia/status_error.hpp>

#include <charconv>
#include <cstdint>
#include <utility>

namespace tertulia::web {

namespace {

std::optional<std::string> decoded(std::string_view text, bool is_query) {
  std::string result;
  result.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+' && is_query) {
      result += ' ';
    } else if (text[i] != '%') {
      result += text[i];
    } else {
      unsigned byte = 0;
      if (text.size() - i < 3)
        return std::nullopt;
      const auto* first = text.data() + i + 1;
      const auto [end, problem] = std::from_chars(first, first + 2, byte, 16);
      if (problem != std::errc{} || end != first + 2)
        return std::nullopt;
      result += static_cast<char>(byte);
      i += 2;
    }
  }
  if (!detail::is_utf8(result))
    return std::nullopt;
  return result;
}

} // namespace

std::string target::get(const std::string& name) const {
  const auto i = query.find(name);
  return i != query.end() ? i->second : std::string{};
}

std::optional<std::uint64_t> target::number(const std::string& name) const {
  const auto text = get(name);
  if (text.empty())
    return std::nullopt;
  std::uint64_t result = 0;
  const auto* last = text.data() + text.size();
  const auto [end, problem] = std::from_chars(text.data(), last, result);
  if (problem != std::errc{} || end != last)
    throw status_error{errc::invalid_argument, name + ": is not a number"};
  return result;
}

std::optional<target> read_target(std::string_view text) {
  if (text.empty() || text.front() != '/')
    return std::nullopt;
  target result;
  const auto mark = text.find('?');
  auto path = decoded(text.substr(0, mark), false);
  if (!path)
    return std::nullopt;
  result.path = std::move(*path);
  if (mark == std::string_view::npos)
    return result;
  for (auto rest = text.substr(mark + 1); !rest.empty();) {
    const auto end = rest.find('&');
    const auto part = rest.substr(0, end);
    rest = end == std::string_view::npos ? std::string_view{}
                                         : rest.substr(end + 1);
    const auto sign = part.find('=');
    auto name = decoded(part.substr(0, sign), true);
    auto value = sign == std::string_view::npos
                   ? std::string{}
                   : decoded(part.substr(sign + 1), true);
    if (!name || !value)
      return std::nullopt;
    result.query.insert_or_assign(std::move(*name), std::move(*value));
  }
  return result;
}

} // namespace tertulia::web
