// SPDX-License-Identifier: BSD-3-Clause

#include <cstdint>

#include "support/flows.hpp"
#include "support/memory.hpp"

using namespace std::literals;

namespace tertulia::test::slow_consumer_tests {

namespace {

struct slow_consumer : flows {};

} // namespace

// Runs on a clock that the test advances: ten minutes at one chunk per second,
// then the rest.
TEST_F(slow_consumer, holds_a_producer_of_a_million_for_minutes) {
  constexpr std::uint32_t window = 64;
  constexpr std::uint64_t offer = 1'000'000;
  std::uint64_t produced = 0;
  auto client = open_to(
    [&](context, input<int>, output<std::uint64_t> out) -> task<int> {
      while (produced < offer)
        co_await out.send(produced++);
      co_return 7;
    },
    with_chunk_window(window));
  const auto& received = client.received();
  ASSERT_EQ(received.chunks.size(), window);
  // Only the client may keep the chunks that it has received.
  const auto held_by_others = [&] {
    return all_bytes_in_use()
           - received.chunks.capacity() * sizeof(std::uint64_t);
  };
  const auto before = held_by_others();
  for (std::uint64_t second = 1; second <= 600; ++second) {
    client.grant(1);
    advance(1s);
    ASSERT_EQ(received.chunks.size(), window + second);
    ASSERT_LE(produced, received.chunks.size() + window + 1);
  }
  EXPECT_LT(held_by_others(), before + (std::size_t{32} << 10));

  while (received.ends == 0) {
    const auto old = received.chunks.size();
    EXPECT_LT(held_by_others(), before + (std::size_t{256} << 10));
    client.grant(4'096);
    ASSERT_TRUE(received.ends == 1 || received.chunks.size() > old);
  }
  EXPECT_EQ(client.output(), 7);
  ASSERT_EQ(received.chunks.size(), offer);
  for (std::uint64_t i = 0; i < offer; ++i)
    ASSERT_EQ(received.chunks[i], i);
}

} // namespace tertulia::test::slow_consumer_tests
