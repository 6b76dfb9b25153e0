// SPDX-License-Identifier: BSD-3-Clause
// expect gcc: no matching function for call to
// expect clang: no matching member function for call to

#include <tertulia/remote_runtime.hpp>

void find(const tertulia::remote_runtime& there) {
  (void)there.action<std::string>("/bidi-flow/echo");
}
