// SPDX-License-Identifier: BSD-3-Clause
// expect gcc: use of deleted function
// expect clang: call to deleted member function 'str'

#include <tertulia/identifier.hpp>

tertulia::session_id newest();

const std::string& name_of_newest() {
  return newest().str();
}
