// SPDX-License-Identifier: BSD-3-Clause

#pragma once

namespace tertulia {

struct open_result;

} // namespace tertulia

namespace tertulia::detail {

/// Answers an opening that nobody waits for any more: a run that was opened is
/// cancelled, one that has other clients is left.
/// @param is_sought whether the client looks for the run of its session: one
///                  that it has opened is left, too, and it attaches to that.
void decline(const open_result& x, bool is_sought = false);

} // namespace tertulia::detail
