// SPDX-License-Identifier: BSD-3-Clause

#pragma once

namespace tertulia::bench {

/// Bytes that the program has allocated and not given back. Blocks that a
/// thread of the program keeps for reuse count as in use: some KiB.
double allocated_bytes();

/// Bytes of physical memory that the process occupies.
double resident_bytes();

/// Gives free memory back to the operating system.
void trim_memory();

} // namespace tertulia::bench
