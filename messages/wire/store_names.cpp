// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/detail/text.hpp>
#include <tertulia/json.hpp>
#include <tertulia/store/names.hpp>

#include <string>
#include <string_view>

#include <fmt/format.h>

namespace tertulia {

namespace {

[[noreturn]] void reject(std::string_view path, std::string_view why) {
  throw status_error{errc::invalid_argument, fmt::format("{}: {}", path, why),
                     json::object({{"path", path}}).dump()};
}

void check_text(const std::string& x, std::string_view path) {
  if (x.empty())
    reject(path, "is empty");
  if (x.size() > max_session_name)
    reject(path, fmt::format("has {} bytes, and at most {} are allowed",
                             x.size(), max_session_name));
  if (x.find('\0') != std::string::npos)
    reject(path, "contains a NUL");
  if (!detail::is_utf8(x))
    reject(path, "is not UTF-8");
}

} // namespace

void check_name(const session_ref& x) {
  check_text(x.agent, "$.agent");
  check_text(x.id.str(), "$.session");
}

} // namespace tertulia
