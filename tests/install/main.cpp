// SPDX-License-Identifier: BSD-3-Clause

#include <iostream>

#include <tertulia/errc.hpp>

int main() {
  std::cout << tertulia::to_string(tertulia::errc::ok) << '\n';
}
