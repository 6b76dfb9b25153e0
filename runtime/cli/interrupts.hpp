// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <functional>

// Ctrl-C and other signals that request termination end the process at once; a
// store survives that at any moment. Registered clean-up functions run first.
// An interactive command can handle Ctrl-C itself instead of ending the
// process.

namespace tertulia::tool {

/// Starts to watch for signals. Must be called before any other thread is
/// started, because new threads inherit the signal mask. Signals that the
/// parent process ignored stay ignored.
void watch_interrupts();

/// Runs a function before an interrupt ends the process, as long as this object
/// lives. Of several functions, the last one runs first.
///
/// @threads the function runs on the watching thread, concurrently with the
///          owner of this object, but never after the destructor.
class on_interrupt {
public:
  explicit on_interrupt(std::function<void()> clean_up);

  on_interrupt(const on_interrupt&) = delete;
  on_interrupt& operator=(const on_interrupt&) = delete;

  ~on_interrupt();
};

/// Signals that a command handles itself.
enum class handled_signals { ctrl_c, all };

/// Runs a function on Ctrl-C, or on any of the signals, instead of ending the
/// process, as long as this object lives. Of several functions, only the last
/// one runs.
///
/// @threads same as `on_interrupt`.
class instead_of_interrupt {
public:
  /// @param fn   is called with the signal, and returns whether it is handled;
  ///             otherwise the process ends. Must not throw.
  /// @param which others end the process.
  explicit instead_of_interrupt(std::function<bool(int)> fn,
                                handled_signals which
                                = handled_signals::ctrl_c);

  instead_of_interrupt(const instead_of_interrupt&) = delete;
  instead_of_interrupt& operator=(const instead_of_interrupt&) = delete;

  ~instead_of_interrupt();
};

} // namespace tertulia::tool
