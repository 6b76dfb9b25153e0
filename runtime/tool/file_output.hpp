// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <filesystem>
#include <fstream>

#include "interrupts.hpp"

namespace tertulia::tool {

/// What becomes of a file that is there already.
enum class existing_file { is_kept, is_replaced };

/// A file that is there as a whole or not at all: it is written beside its
/// place and moved there at the end.
///
/// @threads one at a time.
class file_output {
public:
  /// @errors throws a failure: `already_exists`, and what the system says.
  file_output(std::filesystem::path file, existing_file existing);

  file_output(const file_output&) = delete;
  file_output& operator=(const file_output&) = delete;

  /// Removes what was written unless it was put in its place.
  ~file_output();

  [[nodiscard]] std::ostream& stream() noexcept {
    return stream_;
  }

  /// Makes what was written durable and moves it to its place.
  /// @errors as the constructor.
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
