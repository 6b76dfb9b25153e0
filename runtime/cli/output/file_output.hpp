// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <filesystem>
#include <fstream>

#include "interrupts.hpp"

namespace tertulia::tool {

/// Treatment of a file that exists already.
enum class existing_file { is_kept, is_replaced };

/// A file that is written completely or not at all. It is written under a
/// temporary name in its folder and renamed at the end.
///
/// @threads one at a time.
class file_output {
public:
  /// @errors throws a failure: `already_exists`, and errors of the system.
  file_output(std::filesystem::path file, existing_file existing);

  file_output(const file_output&) = delete;
  file_output& operator=(const file_output&) = delete;

  /// Removes the temporary file unless it was put in place.
  ~file_output();

  [[nodiscard]] std::ostream& stream() noexcept {
    return stream_;
  }

  /// Makes the content durable and renames the file to its final name.
  /// @errors same as the constructor.
  void put_in_place();

private:
  std::filesystem::path file_;
  existing_file existing_;
  std::filesystem::path aside_;
  int handle_;
  on_interrupt remove_;
  std::ofstream stream_;
};

} // namespace tertulia::tool
