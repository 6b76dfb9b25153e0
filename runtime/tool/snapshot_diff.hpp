// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/snapshot.hpp>

#include "tool.hpp"

namespace tertulia::tool {

/// Prints what differs between the states of two snapshots.
/// @errors throws what the store says.
exit_code print_diff(tool& t, const snapshot_record& old,
                     const snapshot_record& now);

} // namespace tertulia::tool
