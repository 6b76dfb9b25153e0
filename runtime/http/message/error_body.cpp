// SPDX-License-Identifier: BSD-3-Clause

#include "error_body.hpp"

#include <cstddef>
#include <string_view>

namespace tertulia::web {

std::string line_of(const json& x) {
  try {
    return to_json_text(x);
  } catch (const status_error&) {
    // No UTF-8, no finite number, or nested too deeply.
    return x.dump(-1, ' ', false, json::error_handler_t::replace);
  }
}

std::string status_name(errc code) {
  std::string result;
  for (const auto c : to_string(code))
    result += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return result;
}

unsigned http_status(errc code) noexcept {
  switch (code) {
    case errc::ok: return 200;
    case errc::cancelled: return 499;
    case errc::invalid_argument:
    case errc::failed_precondition:
    case errc::out_of_range: return 400;
    case errc::unauthenticated: return 401;
    case errc::permission_denied: return 403;
    case errc::not_found: return 404;
    case errc::already_exists:
    case errc::aborted: return 409;
    case errc::resource_exhausted: return 429;
    case errc::unimplemented: return 501;
    case errc::unavailable: return 503;
    case errc::deadline_exceeded: return 504;
    default: return 500;
  }
}

namespace {

/// Removes the process that holds a session from the error of a store: its
/// number and its host are not for clients.
void hide_process(json& error) {
  auto& details = error["details"];
  const auto owner
    = details.is_object() ? details.find("owner") : details.end();
  if (owner == details.end() || !owner->is_string() || details.size() != 3
      || !details.contains("agent") || !details.contains("session"))
    return;
  auto& message = error["message"].get_ref<json::string_t&>();
  const auto end = ", in " + owner->get<std::string>();
  if (message.ends_with(end))
    message.resize(message.size() - end.size());
  details.erase(owner);
}

/// Removes the path of its file from the error of a store, which begins with
/// it.
void hide_file(json& error) {
  auto& details = error["details"];
  const auto file = details.is_object() ? details.find("file") : details.end();
  if (file == details.end() || !file->is_string())
    return;
  const auto path = file->get<std::string>();
  auto& message = error["message"].get_ref<json::string_t&>();
  // An application may say of a file what it likes.
  if (!path.starts_with('/') || !message.starts_with(path + ": "))
    return;
  const std::string_view instead = "the file";
  for (std::size_t at = 0; (at = message.find(path, at)) != std::string::npos;
       at += instead.size())
    message.replace(at, path.size(), instead);
  details.erase(file);
}

} // namespace

json error_document(const status_error& x) {
  json result{{"status", status_name(x.code())},
              {"message", x.is_unexpected() ? "internal error" : x.message()}};
  if (!x.details().empty())
    try {
      result["details"] = parse_json<json>(x.details());
      hide_process(result);
      hide_file(result);
    } catch (const status_error&) {
      // Details without JSON are not for programs.
    }
  return result;
}

std::string error_text(const status_error& x) {
  return line_of(error_document(x));
}

} // namespace tertulia::web
