// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/uuid.hpp>

#include <uuid/uuid.h>

namespace tertulia {

std::string make_uuid() {
  uuid_t id;
  uuid_generate_random(id);
  std::string result(UUID_STR_LEN, '\0');
  uuid_unparse_lower(id, result.data());
  result.pop_back(); // the final zero
  return result;
}

} // namespace tertulia
