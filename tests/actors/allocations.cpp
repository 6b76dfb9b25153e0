// SPDX-License-Identifier: BSD-3-Clause

#include <cstddef>
#include <sstream>
#include <string>
#include <vector>

#include "support/tool_process.hpp"
#include <gtest/gtest.h>

// Allocations are counted in a separate process, where only the test allocates.

namespace tertulia::test::allocations_tests {

namespace {

/// Returns the number of allocations in answers of these sizes, in chunks.
std::vector<std::size_t> allocations(const std::string& kind,
                                     const std::vector<std::size_t>& sizes) {
  std::vector<std::string> arguments{TERTULIA_TEST_BIN_DIR "/allocations",
                                     kind};
  for (auto x : sizes)
    arguments.push_back(std::to_string(x));
  tool_process counter{on_pipes, arguments};
  std::vector<std::size_t> result;
  for (auto expected : sizes) {
    std::istringstream line{counter.read_line()};
    std::size_t chunks = 0;
    std::size_t count = 0;
    line >> chunks >> count;
    EXPECT_FALSE(line.fail());
    EXPECT_EQ(chunks, expected);
    result.push_back(count);
  }
  return result;
}

} // namespace

TEST(allocations, a_batch_costs_the_same_however_many_chunks_it_has) {
  const auto counts = allocations("numbers", {2, 3, 32, 512});
  EXPECT_GT(counts[0], 0u);
  EXPECT_EQ(counts, std::vector<std::size_t>(4, counts[0]));
}

TEST(allocations, a_batch_of_one_costs_one_less) {
  const auto counts = allocations("numbers", {1, 2});
  EXPECT_EQ(counts[0] + 1, counts[1]);
}

TEST(allocations, the_last_batch_of_a_window_costs_no_more) {
  const auto counts = allocations("numbers", {514, 1'000, 1'023, 1'024});
  EXPECT_EQ(counts, std::vector<std::size_t>(4, counts[0]));
}

TEST(allocations, a_chunk_is_moved_all_the_way) {
  const auto numbers = allocations("numbers", {2, 32, 512, 1'024});
  const auto texts = allocations("texts", {2, 32, 512, 1'024});
  EXPECT_EQ(texts, (std::vector{numbers[0] + 2, numbers[1] + 32,
                                numbers[2] + 512, numbers[3] + 1'024}));
}

} // namespace tertulia::test::allocations_tests
