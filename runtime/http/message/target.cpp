// SPDX-License-Identifier: BSD-3-Clause

#include "target.hpp"

#include <tertulia/detail/text.hpp>
#include <tertulia/status_error.hpp>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <utility>

#include <fmt/format.h>

namespace tertulia::web {

namespace {

std::optional<std::string> decoded(std::string_view text, bool is_query) {
  std::string encoded{text};
  if (is_query)
    std::replace(encoded.begin(), encoded.end(), '+', ' ');
  auto result = detail::percent_decoded(encoded);
  if (result && !detail::is_utf8(*result))
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
    throw status_error{errc::invalid_argument,
                       fmt::format("{}: is not a number", name)};
  return result;
}

std::string_view take_host(std::string_view& text) {
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (detail::lowered(text.substr(0, scheme.size())) != scheme)
      continue;
    const auto end
      = std::min(text.find_first_of("/?", scheme.size()), text.size());
    const auto result = text.substr(scheme.size(), end - scheme.size());
    text = end < text.size() && text[end] == '/' ? text.substr(end)
                                                 : std::string_view{"/"};
    return result;
  }
  return {};
}

bool is_host(std::string_view text) {
  const auto is_of = [](std::string_view all, std::string_view signs) {
    return std::all_of(all.begin(), all.end(), [signs](unsigned char c) {
      return std::isalnum(c) != 0
             || signs.find(static_cast<char>(c)) != std::string_view::npos;
    });
  };
  auto port = text.rfind(':');
  auto name = text.substr(0, port);
  if (text.starts_with('[')) {
    const auto end = text.find(']');
    if (end == std::string_view::npos)
      return false;
    name = text.substr(1, end - 1);
    port = end + 1 < text.size() ? end + 1 : std::string_view::npos;
    if (!is_of(name, ":.") || (port < text.size() && text[port] != ':'))
      return false;
  } else if (name.empty() || !is_of(name, "-._~%!$&'()*+,;=")) {
    return false;
  }
  const auto digits
    = port < text.size() ? text.substr(port + 1) : std::string_view{};
  return std::all_of(digits.begin(), digits.end(),
                     [](char c) { return c >= '0' && c <= '9'; });
}

std::string log_text(std::string_view text) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  std::string result;
  for (const auto c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte > 0x20 && byte < 0x7f && c != '"')
      result += c;
    else
      result.append({'%', digits[byte >> 4U], digits[byte & 15U]});
  }
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
