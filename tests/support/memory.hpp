// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <cstddef>

#include "sanitized.hpp"
#include <malloc.h>

// Compilers ship the function in their runtime, but g++ not the header that
// declares it.
extern "C" std::size_t __sanitizer_get_current_allocated_bytes();

namespace tertulia::test {

/// How many bytes of the heap are in use: not what the process holds, which an
/// allocator keeps for later.
inline std::size_t bytes_in_use() {
  if constexpr (sanitized)
    return __sanitizer_get_current_allocated_bytes();
  else
    return ::mallinfo2().uordblks;
}

/// The same with blocks that are too large for the heap, such as a long list of
/// the test's own.
inline std::size_t all_bytes_in_use() {
  if constexpr (sanitized)
    return bytes_in_use();
  else
    return bytes_in_use() + ::mallinfo2().hblkhd;
}

} // namespace tertulia::test
