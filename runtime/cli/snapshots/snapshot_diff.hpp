// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/snapshot.hpp>

#include "command_environment.hpp"

namespace tertulia::tool {

/// Prints the differences between the states of two snapshots.
/// @errors throws errors of the store.
exit_code print_diff(tool& t, const snapshot_record& old,
                     const snapshot_record& now);

} // namespace tertulia::tool
