// SPDX-License-Identifier: BSD-3-Clause

// Runs one of the programs of this folder but `allocations`: `test_process NAME
// [ARGUMENT...]`.

#include <iostream>

#include "support/child_program.hpp"

int main(int argc, char** argv) {
  const auto& programs = tertulia::test::child_program::all();
  const auto found = argc > 1 ? programs.find(argv[1]) : programs.end();
  if (found == programs.end()) {
    std::cerr << "there is no such program\n";
    return 2;
  }
  found->second(argc - 1, argv + 1);
}
