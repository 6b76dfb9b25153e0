// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/trace.hpp>
#include <tertulia/uuid.hpp>

#include <algorithm>
#include <array>
#include <functional>
#include <regex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tertulia::test::uuid_tests {

namespace {

using strings = std::vector<std::string>;

strings made(std::size_t count) {
  strings result(count);
  std::generate(result.begin(), result.end(), make_uuid);
  return result;
}

std::string made_in_a_forked_process(const std::function<std::string()>& make) {
  std::array<int, 2> ends{};
  EXPECT_EQ(pipe(ends.data()), 0);
  const auto child = fork();
  EXPECT_GE(child, 0);
  if (child == 0) {
    const auto mine = make();
    const auto sent = write(ends[1], mine.data(), mine.size());
    _exit(sent == static_cast<ssize_t>(mine.size()) ? 0 : 1);
  }
  close(ends[1]);
  std::string result(64, '\0');
  const auto size = read(ends[0], result.data(), result.size());
  result.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
  close(ends[0]);
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  return result;
}

} // namespace

TEST(uuid, it_is_random_and_says_so) {
  // Version 4 is random; 8, 9, a and b are the variant.
  const std::regex random{"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-"
                          "[89ab][0-9a-f]{3}-[0-9a-f]{12}"};
  for (const auto& x : made(1'000))
    ASSERT_TRUE(std::regex_match(x, random)) << x;
}

TEST(uuid, no_two_are_the_same_whatever_thread_makes_them) {
  std::array<strings, 4> all;
  {
    std::vector<std::jthread> threads;
    threads.reserve(all.size());
    for (auto& mine : all)
      threads.emplace_back([&mine] { mine = made(5'000); });
  }
  std::set<std::string> seen;
  for (const auto& mine : all)
    seen.insert(mine.begin(), mine.end());
  EXPECT_EQ(seen.size(), 4u * 5'000u);
}

TEST(uuid, a_forked_process_makes_others) {
  const auto make_trace_id = [] { return to_string(trace_id::random()); };
  for (const std::function<std::string()>& make :
       {std::function<std::string()>{make_uuid}, {make_trace_id}}) {
    const auto before = make(); // there are random bytes for more
    const auto other = made_in_a_forked_process(make);
    EXPECT_EQ(other.size(), before.size());
    EXPECT_NE(other, make());
    EXPECT_NE(other, before);
  }
}

} // namespace tertulia::test::uuid_tests
