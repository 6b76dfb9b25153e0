// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <cstddef>

#include "support/sanitized.hpp"
#include <malloc.h>

// Compilers have this function in their runtime library, but g++ lacks the
// header that declares it.
extern "C" std::size_t __sanitizer_get_current_allocated_bytes();

namespace tertulia::test {

/// Returns the number of bytes of the heap that are in use, without memory that
/// the allocator keeps for later.
inline std::size_t bytes_in_use() {
  if constexpr (sanitized)
    return __sanitizer_get_current_allocated_bytes();
  else
    return ::mallinfo2().uordblks;
}

/// Returns the number of bytes in use, including blocks that are too large for
/// the heap, such as a long list of the test itself.
inline std::size_t all_bytes_in_use() {
  if constexpr (sanitized)
    return bytes_in_use();
  else
    return bytes_in_use() + ::mallinfo2().hblkhd;
}

} // namespace tertulia::test
