// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/caller.hpp>
#include <tertulia/detail/text.hpp>
#include <tertulia/status_error.hpp>

#include <string>

#include <fmt/format.h>

namespace tertulia {

void check_caller(const caller_name& x) {
  const auto& name = x.str();
  const auto reject = [](const char* reason) {
    throw status_error{errc::invalid_argument,
                       fmt::format("the name of a caller {}", reason)};
  };
  if (name.empty())
    reject("is empty");
  if (name.size() > max_caller_name)
    reject("is too long");
  if (name.find('/') != std::string::npos)
    reject("contains a slash");
  if (name.find('\0') != std::string::npos)
    reject("contains a NUL");
  if (!detail::is_utf8(name))
    reject("is not UTF-8");
}

session_id session_of(const caller_name& caller, const session_id& x) {
  return owns(caller, x) ? x : session_id{caller.str() + '/' + x.str()};
}

bool owns(const caller_name& caller, const session_id& x) {
  const auto& name = caller.str();
  return x.str().size() > name.size() + 1 && x.str().starts_with(name)
         && x.str()[name.size()] == '/';
}

} // namespace tertulia
