// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/errc.hpp>

#include <iostream>

int main() {
  std::cout << tertulia::to_string(tertulia::errc::ok) << '\n';
}
