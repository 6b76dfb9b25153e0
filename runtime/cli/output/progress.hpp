// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <thread>

#include "interrupts.hpp"

namespace tertulia::tool {

/// A progress bar on standard error, if that is a terminal. The destructor
/// removes it.
///
/// @threads one at a time.
class progress {
public:
  /// @param work  such as "verifying".
  /// @param shown whether a bar may be shown at all.
  progress(std::string work, bool shown);

  progress(const progress&) = delete;
  progress& operator=(const progress&) = delete;

  ~progress();

  /// Returns whether the bar is visible. If not, the total is not needed.
  [[nodiscard]] bool is_shown() const noexcept {
    return is_shown_;
  }

  /// @param total amount of work; 0 if it is not known.
  void at(std::uint64_t done, std::uint64_t total);

  /// Shows the elapsed time of work whose amount is not known.
  void at(std::chrono::seconds elapsed);

  /// Removes the bar, so that other output can be written.
  void clear();

private:
  /// Returns whether the last output is long enough ago.
  [[nodiscard]] bool is_due();
  void draw(const std::string& state);

  std::string work_;
  bool is_shown_;
  bool is_drawn_ = false;
  std::size_t columns_ = 80;
  std::chrono::steady_clock::time_point next_;
  on_interrupt wipe_;
};

/// Shows the elapsed time on a bar, from the construction to the destruction of
/// this object: for a single request to a store, which reports nothing until it
/// is done.
///
/// @threads  uses the bar on a thread of its own. Nothing else may use it
///           meanwhile.
class elapsed_time {
public:
  explicit elapsed_time(progress& bar);

private:
  std::jthread clock_;
};

} // namespace tertulia::tool
