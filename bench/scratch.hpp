// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <cstdlib>
#include <filesystem>
#include <stdexcept>

namespace tertulia::bench {

/// A temporary folder, which is removed with all its content.
class scratch {
public:
  scratch() {
    auto name
      = (std::filesystem::temp_directory_path() / "tertulia-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr)
      throw std::runtime_error{name + ": cannot be made"};
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

} // namespace tertulia::bench
