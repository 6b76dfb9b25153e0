// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/json.hpp>
#include <tertulia/status.hpp>
#include <tertulia/store/names.hpp>

#include <algorithm>
#include <string>

namespace tertulia {

namespace {

[[noreturn]] void reject(const std::string& path, const char* why) {
  throw status_error{errc::invalid_argument, path + ": " + why,
                     json::object({{"path", path}}).dump()};
}

void check_text(const std::string& x, const char* path) {
  if (x.empty())
    reject(path, "is empty");
  // Nearly all names are ASCII, and stores check one in each request.
  if (std::all_of(x.begin(), x.end(), [](char c) { return c > 0 && c < 127; }))
    return;
  if (x.find('\0') != std::string::npos)
    reject(path, "contains a NUL");
  try {
    static_cast<void>(to_json_text(x));
  } catch (const status_error&) {
    reject(path, "is not UTF-8");
  }
}

} // namespace

void check_name(const session_ref& x) {
  check_text(x.agent, "$.agent");
  check_text(x.id.str(), "$.session");
}

} // namespace tertulia
