// SPDX-License-Identifier: BSD-3-Clause

#pragma once

namespace tertulia::tool {

/// Throws a failure unless the system has the resources for a command.
/// Otherwise the command would crash or wait for ever: CAF cannot recover when
/// a thread cannot be started, and its timers overflow with the clock.
/// @errors `resource_exhausted` without threads or memory for them;
///         `failed_precondition` if the clock is at the end of its range.
void expect_usable_system();

} // namespace tertulia::tool
