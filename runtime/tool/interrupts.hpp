// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <functional>

// Ctrl-C, and whoever else asks the process to end, ends it at once: a store
// survives that at any moment. What must not stay behind is cleaned up before.
// Who talks to people may take Ctrl-C for something smaller than the end.

namespace tertulia::tool {

/// Begins to watch. To be called before any other thread is started, which all
/// inherit that they are not bothered. What the parent process had decided to
/// ignore stays ignored.
void watch_interrupts();

/// As long as this lives, an interrupt runs the function before the process
/// ends; the last one first.
///
/// @threads the function runs on a thread of its own, beside the one that made
///          this and not after it is gone.
class on_interrupt {
public:
  explicit on_interrupt(std::function<void()> clean_up);

  on_interrupt(const on_interrupt&) = delete;
  on_interrupt& operator=(const on_interrupt&) = delete;

  ~on_interrupt();
};

/// As long as this lives, Ctrl-C runs the function and does not end the
/// process; of several the one that was made last. All else that ends it still
/// does.
///
/// @threads as `on_interrupt`.
class instead_of_interrupt {
public:
  /// @param fn must not throw.
  explicit instead_of_interrupt(std::function<void()> fn);

  instead_of_interrupt(const instead_of_interrupt&) = delete;
  instead_of_interrupt& operator=(const instead_of_interrupt&) = delete;

  ~instead_of_interrupt();
};

} // namespace tertulia::tool
