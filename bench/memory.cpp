// SPDX-License-Identifier: BSD-3-Clause

#include "memory.hpp"

#include <fstream>

#include <malloc.h>
#include <unistd.h>

namespace tertulia::bench {

double allocated_bytes() {
  const auto info = mallinfo2(); // all arenas, unlike its text version
  return static_cast<double>(info.uordblks + info.hblkhd);
}

double resident_bytes() {
  std::ifstream in{"/proc/self/statm"};
  double pages = 0;
  in >> pages >> pages; // skips the size of the address space
  return pages * static_cast<double>(sysconf(_SC_PAGESIZE));
}

void trim_memory() {
  malloc_trim(0);
}

} // namespace tertulia::bench
