// SPDX-License-Identifier: BSD-3-Clause

#include "sqlite_checksum.hpp"

#include <tertulia/sha256.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace tertulia {

namespace {

void update(sha256& hash, std::uint64_t x) {
  char bytes[sizeof x];
  for (auto& byte : bytes) {
    byte = static_cast<char>(x & 0xffu);
    x >>= 8u;
  }
  hash.update({bytes, sizeof bytes});
}

void update(sha256& hash, sqlite3_value* x) {
  switch (sqlite3_value_type(x)) {
    case SQLITE_NULL: hash.update("n"); break;
    case SQLITE_INTEGER:
      hash.update("i");
      update(hash, static_cast<std::uint64_t>(sqlite3_value_int64(x)));
      break;
    default: {
      const auto* bytes = static_cast<const char*>(sqlite3_value_blob(x));
      const auto size = static_cast<std::size_t>(sqlite3_value_bytes(x));
      hash.update("b");
      update(hash, std::uint64_t{size});
      hash.update({bytes != nullptr ? bytes : "", size});
    }
  }
}

void row_checksum(sqlite3_context* to, int count, sqlite3_value** values) {
  sha256 hash;
  for (auto* x : std::span{values, static_cast<std::size_t>(count)})
    update(hash, x);
  const auto digest = hash.digest();
  std::uint64_t result = 0;
  for (std::size_t i = 0; i < sizeof result; ++i)
    result = result << 8u | digest.at(i);
  sqlite3_result_int64(to, static_cast<std::int64_t>(result));
}

} // namespace

int add_row_checksum(sqlite3* to) noexcept {
  constexpr auto any_number = -1;
  constexpr auto flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY;
  return sqlite3_create_function_v2(to, "row_checksum", any_number, flags,
                                    nullptr, row_checksum, nullptr, nullptr,
                                    nullptr);
}

} // namespace tertulia
