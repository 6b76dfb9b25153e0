// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/detail/text.hpp>
#include <tertulia/sha256.hpp>

#include <bit>
#include <type_traits>

#include <openssl/sha.h>

// OpenSSL 3 recommends EVP instead, whose contexts live on the heap: a copy
// costs an allocation and a look-up. Here the state must be a value.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

namespace tertulia {

static_assert(sizeof(SHA256_CTX) == sizeof(sha256));
static_assert(alignof(SHA256_CTX) == alignof(sha256));
static_assert(std::is_trivially_copyable_v<SHA256_CTX>);

namespace {

using bytes = std::array<std::byte, sizeof(SHA256_CTX)>;

} // namespace

// Copies of 112 bytes in both directions instead of a cast: their cost is
// negligible compared with hashing, and there is no doubt about aliasing.

sha256::sha256() noexcept {
  SHA256_CTX context;
  SHA256_Init(&context);
  state_ = std::bit_cast<bytes>(context);
}

void sha256::update(std::string_view text) noexcept {
  auto context = std::bit_cast<SHA256_CTX>(state_);
  SHA256_Update(&context, text.data(), text.size());
  state_ = std::bit_cast<bytes>(context);
}

std::uint64_t sha256::size() const noexcept {
  const auto context = std::bit_cast<SHA256_CTX>(state_);
  // OpenSSL counts bits, in two halves.
  return (std::uint64_t{context.Nh} << 32u | context.Nl) / 8;
}

std::array<std::uint8_t, 32> sha256::digest() const noexcept {
  auto context = std::bit_cast<SHA256_CTX>(state_);
  std::array<std::uint8_t, 32> result;
  SHA256_Final(result.data(), &context);
  return result;
}

std::string sha256::hex() const {
  return detail::to_hex(digest());
}

} // namespace tertulia

#pragma GCC diagnostic pop
