// SPDX-License-Identifier: BSD-3-Clause

#pragma once

namespace tertulia::bench {

/// Returns the bytes that the program has allocated and not freed. Blocks that
/// a thread caches for reuse count as allocated: some KiB.
double allocated_bytes();

/// Returns the bytes of physical memory that the process occupies.
double resident_bytes();

/// Returns free memory to the operating system.
void trim_memory();

} // namespace tertulia::bench
