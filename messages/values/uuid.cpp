// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/detail/random_bytes.hpp>
#include <tertulia/uuid.hpp>

#include <uuid/uuid.h>

namespace tertulia {

std::string make_uuid() {
  uuid_t id;
  detail::random_bytes(id);
  id[6] = static_cast<unsigned char>((id[6] & 0x0F) | 0x40); // version 4
  id[8] = static_cast<unsigned char>((id[8] & 0x3F) | 0x80); // variant
  std::string result(UUID_STR_LEN, '\0');
  uuid_unparse_lower(id, result.data());
  result.pop_back(); // the final zero
  return result;
}

} // namespace tertulia
