// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>

namespace tertulia::test {

/// Private temporary folder; it is removed with all its content.
class scratch {
public:
  scratch() {
    auto name
      = (std::filesystem::temp_directory_path() / "tertulia-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr)
      throw std::system_error{errno, std::system_category(), name};
    folder_ = name;
  }

  scratch(const scratch&) = delete;
  scratch& operator=(const scratch&) = delete;

  ~scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

  [[nodiscard]] std::filesystem::path operator/(const char* name) const {
    return folder_ / name;
  }

private:
  std::filesystem::path folder_;
};

} // namespace tertulia::test
