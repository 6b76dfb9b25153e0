// SPDX-License-Identifier: BSD-3-Clause

#include "url.hpp"

#include <tertulia/status.hpp>

#include <algorithm>
#include <memory>

#include <curl/curl.h>
#include <fmt/format.h>

namespace tertulia::http {

namespace {

[[noreturn]] void refuse_url(const std::string& reason) {
  throw status_error{errc::invalid_argument, fmt::format("a URL {}", reason)};
}

struct url_deleter {
  void operator()(CURLU* x) const {
    curl_url_cleanup(x);
  }
};

using url_handle = std::unique_ptr<CURLU, url_deleter>;

/// Returns a part of a URL; empty if it is missing.
std::string part_of(const url_handle& from, CURLUPart part,
                    unsigned flags = 0) {
  char* found = nullptr;
  if (curl_url_get(from.get(), part, &found, flags) != CURLUE_OK)
    return {};
  const std::unique_ptr<char, decltype(&curl_free)> owner{found, &curl_free};
  return found;
}

} // namespace

std::string url::authority() const {
  return port == (secure ? "443" : "80") ? host : endpoint();
}

std::string url::endpoint() const {
  return host + ':' + port;
}

std::string url::text() const {
  return (secure ? "https://" : "http://") + endpoint() + path;
}

url parse_url(std::string_view text) {
  const url_handle parsed{curl_url()};
  if (!parsed)
    throw std::bad_alloc{};
  const std::string copy{text};
  if (copy.find('\0') != std::string::npos)
    refuse_url("has a character that must be encoded");
  switch (
    curl_url_set(parsed.get(), CURLUPART_URL, copy.c_str(), CURLU_PATH_AS_IS)) {
    case CURLUE_OK: break;
    case CURLUE_BAD_SCHEME:
    case CURLUE_UNSUPPORTED_SCHEME:
      refuse_url("must begin with http:// or https://");
    case CURLUE_BAD_PORT_NUMBER: refuse_url("has a port that is not a port");
    case CURLUE_NO_HOST: refuse_url("has no host");
    default: refuse_url("is malformed");
  }
  url result;
  const auto scheme = part_of(parsed, CURLUPART_SCHEME);
  if (scheme != "http" && scheme != "https")
    refuse_url("must begin with http:// or https://");
  if (copy.find_first_of("?#") != std::string::npos)
    refuse_url("must not have a query");
  result.secure = scheme == "https";
  result.user = part_of(parsed, CURLUPART_USER, CURLU_URLDECODE);
  result.password = part_of(parsed, CURLUPART_PASSWORD, CURLU_URLDECODE);
  result.host = part_of(parsed, CURLUPART_HOST);
  result.port = part_of(parsed, CURLUPART_PORT);
  if (result.port.empty())
    result.port = result.secure ? "443" : "80";
  if (result.port == "0")
    refuse_url("has a port that is not a port");
  result.path = part_of(parsed, CURLUPART_PATH);
  while (result.path.ends_with('/'))
    result.path.pop_back();
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

std::string exceptions_for(std::string_view no_proxy, const url& server) {
  std::string result;
  while (!no_proxy.empty()) {
    const auto end = std::min(no_proxy.find_first_of(", "), no_proxy.size());
    auto entry = no_proxy.substr(0, end);
    no_proxy.remove_prefix(std::min(end + 1, no_proxy.size()));
    if (entry == "*")
      return "*";
    std::string_view port;
    const auto bracket = entry.starts_with('[') ? entry.find(']') : entry.npos;
    const auto colon = entry.rfind(':');
    if (bracket != entry.npos) {
      if (entry.substr(bracket + 1).starts_with(':'))
        port = entry.substr(bracket + 2);
      entry = entry.substr(1, bracket - 1);
    } else if (colon != entry.npos && entry.find(':') == colon) {
      port = entry.substr(colon + 1);
      entry = entry.substr(0, colon);
    }
    if (!entry.empty() && (port.empty() || port == server.port)) {
      result += entry;
      result += ',';
    }
  }
  return result;
}

} // namespace tertulia::http
