// SPDX-License-Identifier: BSD-3-Clause

#include "url.hpp"

#include <tertulia/status.hpp>

#include <algorithm>
#include <cctype>
#include <charconv>

namespace tertulia::openai {

namespace {

[[noreturn]] void refuse_url(const char* why) {
  throw status_error{errc::invalid_argument, std::string{"a URL "} + why};
}

std::string lowered(std::string_view text) {
  std::string result{text};
  for (auto& x : result)
    x = static_cast<char>(std::tolower(static_cast<unsigned char>(x)));
  return result;
}

/// Returns whether no character of the text could end a header field or a line.
bool is_printable(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char x) { return x > ' ' && x != 0x7F; });
}

std::string bracketed(const std::string& host) {
  return host.find(':') == std::string::npos ? host : '[' + host + ']';
}

/// Returns the number of a port; 0 if the text is not a port.
std::uint16_t number_of(const std::string& port) {
  std::uint16_t result = 0;
  const auto* end = port.data() + port.size();
  const auto parsed = std::from_chars(port.data(), end, result);
  return parsed.ec == std::errc{} && parsed.ptr == end ? result : 0;
}

int digit_of(char x) {
  if (x >= '0' && x <= '9')
    return x - '0';
  const auto letter = std::tolower(static_cast<unsigned char>(x));
  return letter >= 'a' && letter <= 'f' ? letter - 'a' + 10 : -1;
}

/// Returns the decoded form of URL-encoded text, such as `@` for `%40`.
std::string decoded(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      result += text[i];
      continue;
    }
    const auto high = i + 2 < text.size() ? digit_of(text[i + 1]) : -1;
    const auto low = high < 0 ? -1 : digit_of(text[i + 2]);
    if (low < 0)
      refuse_url("has a % that encodes nothing");
    result += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return result;
}

/// Parts of an entry such as `example.org:443` or `[::1]:443`.
struct excepted {
  explicit excepted(std::string_view text) {
    const auto bracket = text.starts_with('[') ? text.find(']') : text.npos;
    const auto colon = text.rfind(':');
    if (bracket != text.npos) {
      host = lowered(text.substr(1, bracket - 1));
      if (text.substr(bracket + 1).starts_with(':'))
        port = text.substr(bracket + 2);
    } else if (colon != text.npos && text.find(':') == colon) {
      host = lowered(text.substr(0, colon));
      port = text.substr(colon + 1);
    } else {
      host = lowered(text);
    }
  }

  std::string host;
  std::string port; // empty: any
};

} // namespace

std::string url::authority() const {
  return port == (secure ? "443" : "80") ? bracketed(host) : endpoint();
}

std::string url::endpoint() const {
  return bracketed(host) + ':' + port;
}

std::uint16_t url::port_number() const {
  return number_of(port);
}

url parse_url(std::string_view text) {
  url result;
  if (!is_printable(text))
    refuse_url("has a character that must be encoded");
  const auto colon = text.find("://");
  const auto scheme = lowered(text.substr(0, colon));
  if (colon == std::string_view::npos
      || (scheme != "http" && scheme != "https"))
    refuse_url("must begin with http:// or https://");
  result.secure = scheme == "https";
  text.remove_prefix(colon + 3);
  if (text.find_first_of("?#") != std::string_view::npos)
    refuse_url("must not have a query");
  const auto slash = std::min(text.find('/'), text.size());
  auto path = text.substr(slash);
  while (path.ends_with('/'))
    path.remove_suffix(1);
  result.path = path;
  auto where = text.substr(0, slash);
  if (const auto at = where.rfind('@'); at != std::string_view::npos) {
    result.user = decoded(where.substr(0, at));
    where.remove_prefix(at + 1);
  }
  if (where.starts_with('[')) {
    const auto end = where.find(']');
    if (end == std::string_view::npos)
      refuse_url("has a bracket that is not closed");
    result.host = where.substr(1, end - 1);
    where.remove_prefix(end + 1);
  } else {
    const auto end = std::min(where.find(':'), where.size());
    result.host = lowered(where.substr(0, end));
    where.remove_prefix(end);
  }
  if (result.host.empty())
    refuse_url("has no host");
  result.port += result.secure ? "443" : "80";
  if (!where.empty()) {
    if (!where.starts_with(':'))
      refuse_url("has something behind its host");
    result.port = where.substr(1);
    if (result.port_number() == 0)
      refuse_url("has a port that is none");
  }
  return result;
}

url parse_proxy(std::string_view text) {
  const auto has_scheme = text.find("://") != std::string_view::npos;
  auto result
    = parse_url(has_scheme ? std::string{text} : "http://" + std::string{text});
  if (result.secure)
    refuse_url("of a proxy must begin with http://");
  return result;
}

bool is_excepted(std::string_view no_proxy, const url& server) {
  const auto wanted = lowered(server.host);
  while (!no_proxy.empty()) {
    const auto end = std::min(no_proxy.find(','), no_proxy.size());
    auto entry = no_proxy.substr(0, end);
    no_proxy.remove_prefix(std::min(end + 1, no_proxy.size()));
    while (entry.starts_with(' '))
      entry.remove_prefix(1);
    while (entry.ends_with(' '))
      entry.remove_suffix(1);
    if (entry == "*")
      return true;
    while (entry.starts_with('.'))
      entry.remove_prefix(1);
    if (entry.empty())
      continue;
    const excepted domain{entry};
    if ((wanted == domain.host || wanted.ends_with('.' + domain.host))
        && (domain.port.empty() || domain.port == server.port))
      return true;
  }
  return false;
}

} // namespace tertulia::openai
