// SPDX-License-Identifier: BSD-3-Clause

#pragma once

namespace tertulia::tool {

/// Throws a failure unless a command can do its work here. Whoever begins
/// nevertheless crashes or waits for ever: CAF cannot go back once a thread
/// could not be started, and its timers overflow with the clock.
/// @errors `resource_exhausted` without threads or memory for them;
///         `failed_precondition` if the clock is at the end of its range.
void expect_usable_system();

} // namespace tertulia::tool
