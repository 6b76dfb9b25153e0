// SPDX-License-Identifier: BSD-3-Clause

#include "project_folder.hpp"

#include <array>
#include <filesystem>
#include <system_error>

namespace tertulia::web {

namespace {

constexpr std::array markers{"package.json",     "go.mod",
                             "pyproject.toml",   "requirements.txt",
                             "pom.xml",          "build.gradle",
                             "build.gradle.kts", "pubspec.yaml"};

} // namespace

std::string project_folder() {
  namespace fs = std::filesystem;
  const auto here = fs::current_path();
  for (auto folder = here;; folder = folder.parent_path()) {
    std::error_code unknown;
    for (const auto* marker : markers)
      if (fs::exists(folder / marker, unknown))
        return folder.string();
    if (folder == folder.parent_path())
      return here.string();
  }
}

} // namespace tertulia::web
