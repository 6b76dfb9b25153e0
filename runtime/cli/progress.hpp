// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

#include "interrupts.hpp"

namespace tertulia::tool {

/// A progress bar on standard error, if that is a terminal. The destructor
/// removes it.
///
/// @threads one at a time.
class progress {
public:
  /// @param what  the work, such as "verifying".
  /// @param shown whether a bar may be shown at all.
  progress(std::string what, bool shown);

  progress(const progress&) = delete;
  progress& operator=(const progress&) = delete;

  ~progress();

  /// Returns whether the bar is visible. If not, the total is not needed.
  [[nodiscard]] bool is_shown() const noexcept {
    return is_shown_;
  }

  /// @param of  total amount of work; 0 if it is not known.
  void at(std::uint64_t done, std::uint64_t of);

  /// Removes the bar, so that other output can be written.
  void clear();

private:
  std::string what_;
  bool is_shown_;
  bool is_drawn_ = false;
  std::size_t columns_ = 80;
  std::chrono::steady_clock::time_point next_;
  on_interrupt wipe_;
};

} // namespace tertulia::tool
