// SPDX-License-Identifier: BSD-3-Clause

#include "data_file.hpp"

#include <tertulia/status.hpp>

#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "tool_failure.hpp"
#include <fmt/format.h>

namespace tertulia::tool {

namespace {

constexpr const char* other_place = "Add --store FILE.";

std::filesystem::path data_home() {
  // The XDG specification requires that relative paths are ignored.
  if (const char* value = std::getenv("XDG_DATA_HOME"))
    if (std::filesystem::path place{value}; place.is_absolute())
      return place;
  const char* home = std::getenv("HOME");
  if (home == nullptr || !std::filesystem::path{home}.is_absolute())
    reject_usage("neither XDG_DATA_HOME nor HOME is an absolute path",
                 other_place);
  return std::filesystem::path{home} / ".local" / "share";
}

} // namespace

std::filesystem::path data_file(const std::string& name) {
  namespace fs = std::filesystem;
  const auto folder = data_home() / "tertulia";
  std::error_code reason;
  if (fs::create_directories(folder, reason))
    fs::permissions(folder, fs::perms::owner_all, reason);
  if (reason)
    throw failure{status_error{errc::permission_denied,
                               fmt::format("cannot create the folder {}: {}",
                                           folder.string(), reason.message())},
                  other_place};
  return folder / name;
}

} // namespace tertulia::tool
