// SPDX-License-Identifier: BSD-3-Clause

// The queue of the connections, beside the one of the standard library.

#include <tertulia/detail/fifo.hpp>

#include <array>
#include <cstddef>
#include <deque>
#include <memory>
#include <vector>

#include "support/memory.hpp"
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace tertulia::test::fifo_tests {

using detail::fifo;

RC_GTEST_PROP(fifo, does_what_a_deque_does, ()) {
  fifo<int> queue;
  std::deque<int> model;
  const auto steps = *rc::gen::container<std::vector<int>>(
    500,
    rc::gen::weightedOneOf<int>(
      {{6, rc::gen::just(0)}, {5, rc::gen::just(1)}, {1, rc::gen::just(2)}}));
  auto next = 0;
  for (const auto step : steps) {
    if (step == 0 || model.empty()) {
      queue.push_back(++next);
      model.push_back(next);
    } else if (step == 1) {
      RC_ASSERT(queue.pop_front() == model.front());
      model.pop_front();
    } else {
      RC_ASSERT(queue.back() == model.back());
      queue.pop_back();
      model.pop_back();
    }
    RC_ASSERT(queue.empty() == model.empty());
    RC_ASSERT(std::vector<int>(queue.begin(), queue.end())
              == std::vector<int>(model.begin(), model.end()));
    for (std::size_t i = 0; i < model.size(); ++i)
      RC_ASSERT(queue[i] == model[i]);
  }
}

/// Element that counts the living objects, moved-from ones included.
class counted {
public:
  explicit counted(int& count) noexcept : count_(&count) {
    ++*count_;
  }

  counted(counted&& x) noexcept : count_(x.count_) {
    ++*count_;
  }

  counted(const counted&) = delete;

  // The count is of objects: each keeps its own.
  counted& operator=(counted&&) noexcept = default;
  counted& operator=(const counted&) = delete;

  ~counted() {
    --*count_;
  }

private:
  int* count_;
};

TEST(fifo, stays_small_while_elements_come_and_go) {
  auto count = 0;
  {
    fifo<counted> queue;
    for (auto i = 0; i < 100; ++i)
      queue.push_back(counted{count});
    for (auto i = 0; i < 10'000; ++i) {
      queue.push_back(counted{count});
      queue.pop_front();
      ASSERT_LE(count, 2 * 101 + 1);
    }
    queue.clear();
    EXPECT_EQ(count, 0);
    EXPECT_TRUE(queue.empty());
  }
  EXPECT_EQ(count, 0);
}

TEST(fifo, an_empty_one_keeps_little_memory) {
  const auto before = all_bytes_in_use();
  fifo<std::array<char, 1'024>> queue;
  for (auto i = 0; i < 1'000; ++i)
    queue.push_back({});
  EXPECT_GT(all_bytes_in_use(), before + 1'000'000);
  while (!queue.empty())
    queue.pop_front();
  EXPECT_LT(all_bytes_in_use(), before + 100'000);
  queue.push_back({'x'});
  EXPECT_EQ(queue.size(), 1u);
  EXPECT_EQ(queue.pop_front().front(), 'x');
}

TEST(fifo, releases_what_was_taken) {
  fifo<std::shared_ptr<int>> queue;
  const auto element = std::make_shared<int>(1);
  queue.push_back(element);
  queue.push_back(element);
  EXPECT_EQ(element.use_count(), 3);
  queue.pop_front();
  EXPECT_EQ(element.use_count(), 2);
  queue.pop_back();
  EXPECT_EQ(element.use_count(), 1);
}

} // namespace tertulia::test::fifo_tests
