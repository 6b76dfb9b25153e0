// SPDX-License-Identifier: BSD-3-Clause

#include "failure.hpp"

#include <tertulia/json.hpp>

#include <utility>

#include <fmt/format.h>

namespace tertulia::http {

namespace {

/// Maximum length of a server's text in an error.
constexpr std::size_t max_text = 500;

errc code_of_status(unsigned status) {
  switch (status) {
    case 400:
    case 413:
    case 422: return errc::invalid_argument;
    case 401: return errc::unauthenticated;
    case 403:
    case 407: return errc::permission_denied;
    case 404: return errc::not_found;
    case 408: return errc::deadline_exceeded;
    case 409: return errc::aborted;
    case 429: return errc::resource_exhausted;
    case 500: return errc::internal;
    case 501: return errc::unimplemented;
    default:
      return status >= 500 ? errc::unavailable : errc::failed_precondition;
  }
}

/// Returns the message of an error body in the usual form; empty if it has
/// none.
std::string message_in(std::string_view body) {
  const auto document = detail::document_or_null(body);
  if (!document.is_object())
    return {};
  auto found = document.find("error");
  if (found == document.end())
    return {};
  if (found->is_object() && found->contains("message"))
    found = found->find("message");
  return found->is_string() ? found->get<std::string>() : std::string{};
}

/// Shortens an untrusted text and replaces bytes that are not UTF-8.
std::string tamed(std::string text) {
  if (text.size() > max_text)
    text.resize(max_text);
  constexpr auto replace = json::error_handler_t::replace;
  return parse_json<std::string>(
    json(std::move(text)).dump(-1, ' ', false, replace));
}

} // namespace

std::string without(std::string text, const secrets& hidden) {
  constexpr std::string_view instead = "***";
  for (const auto& x : hidden)
    for (auto position = text.find(x); position != std::string::npos;
         position = text.find(x, position + instead.size()))
      text.replace(position, x.size(), instead);
  return text;
}

status_error failure_of(unsigned status, std::string_view body,
                        const secrets& hidden) {
  const auto said = tamed(without(message_in(body), hidden));
  const auto text = fmt::format("the server answers with status {}{}{}", status,
                                said.empty() ? "" : ": ", said);
  json details{{"status", status}};
  if (!said.empty())
    details["error"] = said;
  return {code_of_status(status), text, to_json_text(details)};
}

status_error presentable(const status_error& x, const secrets& hidden) {
  return {x.code(), tamed(without(x.message(), hidden)), x.details()};
}

} // namespace tertulia::http
