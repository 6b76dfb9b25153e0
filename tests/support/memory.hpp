// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <cstddef>

#include <malloc.h>

#if defined(__SANITIZE_ADDRESS__)
// g++ ships the function in its runtime, but not the header that declares it.
extern "C" std::size_t __sanitizer_get_current_allocated_bytes();
#endif

namespace tertulia::test {

/// How many bytes of the heap are in use: not what the process holds, which an
/// allocator keeps for later.
inline std::size_t bytes_in_use() {
#if defined(__SANITIZE_ADDRESS__)
  return __sanitizer_get_current_allocated_bytes();
#else
  return ::mallinfo2().uordblks;
#endif
}

} // namespace tertulia::test
