// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/sha256.hpp>

#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace tertulia::test::sha256_tests {

namespace {

static_assert(sizeof(class sha256) == 112);
static_assert(std::is_trivially_copyable_v<class sha256>);

std::string hash_of(std::string_view bytes) {
  class sha256 result;
  result.update(bytes);
  return result.hex();
}

// Test vectors of FIPS 180-4.
TEST(sha256, the_published_vectors_have_these_hashes) {
  const std::vector<std::pair<std::string, std::string>> all{
    {"", "e3b0c44298fc1c149afbf4c8996fb924"
         "27ae41e4649b934ca495991b7852b855"},
    {"abc", "ba7816bf8f01cfea414140de5dae2223"
            "b00361a396177a9cb410ff61f20015ad"},
    {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
     "248d6a61d20638b8e5c026930c3e6039"
     "a33ce45964ff2167f6ecedd419db06c1"},
    {std::string(1'000'000, 'a'), "cdc76e5c9914fb9281a1c7e284d73e67"
                                  "f1809a48a497200e046d39ccc7112cd0"},
  };
  for (const auto& [bytes, hash] : all)
    EXPECT_EQ(hash_of(bytes), hash);
}

TEST(sha256, the_digest_has_the_bytes_that_hex_shows) {
  class sha256 x;
  x.update("abc");
  const auto digest = x.digest();
  EXPECT_EQ(digest.size(), 32u);
  EXPECT_EQ(digest.front(), 0xba);
  EXPECT_EQ(digest.back(), 0xad);
}

TEST(sha256, it_knows_how_much_it_has_seen) {
  class sha256 x;
  EXPECT_EQ(x.size(), 0u);
  x.update("abc");
  EXPECT_EQ(x.size(), 3u);
  const std::string megabyte(1u << 20u, 'a');
  for (int i = 0; i < 600; ++i)
    x.update(megabyte); // more bits in total than fit into 32 bits
  EXPECT_EQ(x.size(), 3 + 600 * megabyte.size());
}

TEST(sha256, it_goes_on_after_a_digest) {
  class sha256 x;
  x.update("ab");
  (void)x.digest();
  EXPECT_EQ(x.hex(), hash_of("ab"));
  x.update("c");
  EXPECT_EQ(x.hex(), hash_of("abc"));
}

TEST(sha256, copies_go_on_by_themselves) {
  class sha256 x;
  x.update(
    "prefix, longer than the 64 bytes of one block of the hash function");
  auto y = x;
  x.update("x");
  y.update("y");
  EXPECT_NE(x.hex(), y.hex());
  EXPECT_EQ(y.hex(), hash_of("prefix, longer than the 64 bytes of one block of "
                             "the hash functiony"));
}

RC_GTEST_PROP(sha256, pieces_have_the_hash_of_the_whole,
              (std::vector<std::string> pieces)) {
  class sha256 x;
  std::string whole;
  for (const auto& piece : pieces) {
    x.update(piece);
    whole += piece;
  }
  RC_ASSERT(x.hex() == hash_of(whole));
}

} // namespace

} // namespace tertulia::test::sha256_tests
