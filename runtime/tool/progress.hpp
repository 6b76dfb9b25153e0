// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

#include "interrupts.hpp"

namespace tertulia::tool {

/// A bar on standard error, if that is a terminal: how far long work has come.
/// It is gone when the work is done.
///
/// @threads one at a time.
class progress {
public:
  /// @param what  the work: "verifying".
  /// @param shown whether there may be a bar at all.
  progress(std::string what, bool shown);

  progress(const progress&) = delete;
  progress& operator=(const progress&) = delete;

  ~progress();

  /// Whether anybody sees it: finding out how long the way is may be spared.
  [[nodiscard]] bool is_shown() const noexcept {
    return is_shown_;
  }

  /// @param of  how long the way is; 0 if that is not known.
  void at(std::uint64_t done, std::uint64_t of);

  /// Takes the bar away, so that something else can be written.
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
