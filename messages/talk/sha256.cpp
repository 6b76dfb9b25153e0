// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/detail/text.hpp>
#include <tertulia/sha256.hpp>

#include <bit>
#include <type_traits>

#include <nettle/sha2.h>

// Nettle and not OpenSSL: its context is a value, and programs without
// encryption do not link OpenSSL.

namespace tertulia {

static_assert(sizeof(sha256_ctx) == sizeof(sha256));
static_assert(alignof(sha256_ctx) == alignof(sha256));
static_assert(std::is_trivially_copyable_v<sha256_ctx>);

namespace {

using bytes = std::array<std::byte, sizeof(sha256_ctx)>;

} // namespace

// Copies of 112 bytes in both directions instead of a cast: their cost is
// negligible compared with hashing, and there is no doubt about aliasing.

sha256::sha256() noexcept {
  sha256_ctx context;
  sha256_init(&context);
  state_ = std::bit_cast<bytes>(context);
}

void sha256::update(std::string_view text) noexcept {
  auto context = std::bit_cast<sha256_ctx>(state_);
  sha256_update(&context, text.size(),
                reinterpret_cast<const std::uint8_t*>(text.data()));
  state_ = std::bit_cast<bytes>(context);
}

std::uint64_t sha256::size() const noexcept {
  const auto context = std::bit_cast<sha256_ctx>(state_);
  return context.count * SHA256_BLOCK_SIZE + context.index;
}

std::array<std::uint8_t, 32> sha256::digest() const noexcept {
  auto context = std::bit_cast<sha256_ctx>(state_);
  std::array<std::uint8_t, 32> result;
  sha256_digest(&context, result.size(), result.data());
  return result;
}

std::string sha256::hex() const {
  return detail::to_hex(digest());
}

} // namespace tertulia
