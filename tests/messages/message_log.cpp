// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/ai/message_log.hpp>
#include <tertulia/schema.hpp>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <latch>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "support/gen_messages.hpp"
#include "support/memory.hpp"
#include "support/refusal.hpp"
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <nettle/sha2.h>
#include <rapidcheck/gtest.h>

namespace {

std::atomic<std::size_t> bytes_hashed{0};

} // namespace

// Replaces Nettle's own function, counts the bytes, and calls the original: all
// hashed bytes are counted, for any caller.
extern "C" void nettle_sha256_update(sha256_ctx* context, std::size_t size,
                                     const std::uint8_t* data) {
  using function = void (*)(sha256_ctx*, std::size_t, const std::uint8_t*);
  static const auto next
    = reinterpret_cast<function>(::dlsym(RTLD_NEXT, "nettle_sha256_update"));
  bytes_hashed += size;
  next(context, size, data);
}

namespace tertulia::test::message_log_tests {

namespace {

using namespace ai;
using test::refusal;

/// Returns a message of a few bytes whose text is its number.
message numbered(std::size_t i) {
  return user_text(std::to_string(i));
}

message_log log_of(std::size_t size) {
  message_log result;
  for (std::size_t i = 0; i < size; ++i)
    result = result.with(numbered(i));
  return result;
}

std::string texts(const message_log& x) {
  std::string result;
  for (const auto& message : x)
    result += message.text() + ' ';
  return result;
}

/// Returns the expected `digest`, computed from the whole text at once.
std::string hash_from_scratch(const std::vector<message>& messages) {
  auto text = "{\"messages\":" + to_json_text(messages);
  text.pop_back(); // the closing bracket
  sha256 result;
  result.update(text);
  return result.hex();
}

/// Returns the number of bytes that `f` hashes.
template <class F>
std::size_t hashed_by(F&& f) {
  const auto before = bytes_hashed.load();
  f();
  return bytes_hashed - before;
}

static_assert(sizeof(message_log) == sizeof(void*));
static_assert(std::is_nothrow_default_constructible_v<message_log>);
static_assert(std::is_nothrow_copy_constructible_v<message_log>);
static_assert(std::is_nothrow_move_constructible_v<message_log>);
static_assert(std::forward_iterator<message_log::iterator>);

// -- content ------------------------------------------------------------------

TEST(message_log, the_default_one_is_empty) {
  const message_log x;
  EXPECT_TRUE(x.empty());
  EXPECT_EQ(x.size(), 0u);
  EXPECT_TRUE(x.begin() == x.end());
  EXPECT_TRUE(x.to_vector().empty());
  EXPECT_EQ(x, message_log{std::vector<message>{}});
}

TEST(message_log, it_holds_what_was_appended_in_order) {
  const auto x = log_of(3);
  EXPECT_EQ(x.size(), 3u);
  EXPECT_EQ(x.back().text(), "2");
  EXPECT_EQ(texts(x), "0 1 2 ");
  EXPECT_EQ(x.to_vector(),
            (std::vector{numbered(0), numbered(1), numbered(2)}));
  EXPECT_EQ(message_log{x.to_vector()}, x);
  EXPECT_EQ(texts(x.with(std::vector{numbered(3), numbered(4)})), "0 1 2 3 4 ");
}

TEST(message_log, it_can_be_read_from_any_place_on) {
  const auto x = log_of(4);
  for (std::size_t first = 0; first <= 4; ++first) {
    std::vector<std::string> found;
    for (const auto& message : x.from(first))
      found.push_back(message.text());
    ASSERT_EQ(found.size(), 4 - first);
    for (std::size_t i = 0; i < found.size(); ++i)
      EXPECT_EQ(found[i], std::to_string(first + i));
  }
}

TEST(message_log, an_iterator_may_go_twice_and_outlives_the_log) {
  auto x = log_of(3);
  auto i = x.begin();
  const auto again = i;
  x = {};
  EXPECT_EQ(i++->text(), "0");
  EXPECT_EQ((*i).text(), "1");
  EXPECT_EQ(again->text(), "0");
  EXPECT_TRUE(i != again);
  EXPECT_TRUE(++i != message_log::iterator{});
  EXPECT_TRUE(++i == message_log::iterator{});
}

TEST(message_log, places_from_different_walks_are_equal) {
  const auto x = log_of(3);
  EXPECT_TRUE(x.begin() == x.begin());
  EXPECT_TRUE(std::next(x.begin()) == x.from(1).begin());
  EXPECT_EQ(std::distance(x.begin(), x.end()), 3);
}

// -- sharing ------------------------------------------------------------------

TEST(message_log, a_fork_shares_the_prefix_and_sees_nothing_of_the_other) {
  const auto stem = log_of(3);
  const auto a = stem.with(user_text("a"));
  const auto b = stem.with(user_text("b")).with(user_text("c"));
  EXPECT_EQ(texts(stem), "0 1 2 ");
  EXPECT_EQ(texts(a), "0 1 2 a ");
  EXPECT_EQ(texts(b), "0 1 2 b c ");
  EXPECT_EQ(a.shared_with(b), 3u);
  EXPECT_EQ(b.shared_with(a), 3u);
  EXPECT_EQ(a.shared_with(stem), 3u);
  EXPECT_TRUE(a.prefix(3).same_as(stem));
  EXPECT_TRUE(b.prefix(3).same_as(a.prefix(3)));
  EXPECT_EQ(&*a.begin(), &*b.begin());
}

TEST(message_log, equal_logs_need_not_be_the_same) {
  const auto a = log_of(3);
  const auto b = log_of(3);
  EXPECT_EQ(a, b);
  EXPECT_FALSE(a.same_as(b));
  EXPECT_EQ(a.shared_with(b), 0u);
  EXPECT_TRUE(a.same_as(message_log{a}));
  EXPECT_TRUE(message_log{}.same_as({}));
  EXPECT_EQ(a.shared_with({}), 0u);
  EXPECT_EQ(message_log{}.shared_with(a), 0u);
}

TEST(message_log, the_last_message_can_be_replaced) {
  const auto x = log_of(3);
  const auto y = x.with_back(user_text("x"));
  EXPECT_EQ(texts(x), "0 1 2 ");
  EXPECT_EQ(texts(y), "0 1 x ");
  EXPECT_EQ(x.shared_with(y), 2u);
  EXPECT_EQ(texts(log_of(1).with_back(user_text("x"))), "x ");
}

TEST(message_log, handles_can_be_copied_moved_and_assigned) {
  auto x = log_of(2);
  auto y = x;
  auto z = std::move(x);
  EXPECT_TRUE(y.same_as(z));
  y = y.with(numbered(2));
  z = y;
  const auto& same = z;
  z = same;
  EXPECT_EQ(texts(z), "0 1 2 ");
  swap(y, x);
  EXPECT_TRUE(y.empty());
  EXPECT_EQ(x.size(), 3u);
}

TEST(message_log, appending_to_a_long_log_costs_one_node) {
  const auto x = log_of(1000);
  const auto before = test::bytes_in_use();
  std::vector<message_log> forks;
  forks.reserve(100);
  for (auto i = 0; i < 100; ++i)
    forks.push_back(x.with(user_text("x")));
  EXPECT_LT(test::bytes_in_use() - before, 100u * 1024);
}

TEST(message_log, a_million_messages_end_without_recursion) {
  const auto before = test::bytes_in_use();
  {
    message_log x;
    for (auto i = 0; i < 1'000'000; ++i)
      x = x.with(message{});
    EXPECT_EQ(x.size(), 1'000'000u);
    const auto fork = x.prefix(10).with(message{});
    x = {};
    EXPECT_EQ(fork.size(), 11u);
  }
  EXPECT_LT(test::bytes_in_use(), before + 1024 * 1024);
}

RC_GTEST_PROP(message_log, it_behaves_like_vectors, ()) {
  std::vector<std::pair<message_log, std::vector<message>>> all(1);
  const auto steps = *rc::gen::inRange(1, 40);
  for (std::size_t step = 0; step < static_cast<std::size_t>(steps); ++step) {
    auto [log, model] = *rc::gen::elementOf(all);
    const auto size = model.size();
    switch (*rc::gen::inRange(0, 4)) {
      case 0:
        log = log.with(numbered(step));
        model.push_back(numbered(step));
        break;
      case 1: {
        const std::vector more{numbered(step), numbered(step + 1)};
        log = log.with(more);
        model.insert(model.end(), more.begin(), more.end());
        break;
      }
      case 2: {
        const auto n = *rc::gen::inRange<std::size_t>(0, size + 1);
        log = log.prefix(n);
        model.resize(n);
        break;
      }
      default:
        if (model.empty())
          break;
        log = log.with_back(numbered(step));
        model.back() = numbered(step);
    }
    if (!model.empty() && *rc::gen::arbitrary<bool>())
      RC_ASSERT(log.digest().hex() == hash_from_scratch(model));
    all.emplace_back(std::move(log), std::move(model));
  }
  for (const auto& [log, model] : all) {
    RC_ASSERT(log.to_vector() == model);
    RC_ASSERT(log.size() == model.size());
    if (!model.empty())
      RC_ASSERT(log.digest().hex() == hash_from_scratch(model));
    for (const auto& [other, other_model] : all) {
      RC_ASSERT((log == other) == (model == other_model));
      const auto shared = log.shared_with(other);
      RC_ASSERT(log.prefix(shared).same_as(other.prefix(shared)));
      if (shared < std::min(log.size(), other.size()))
        RC_ASSERT(!log.prefix(shared + 1).same_as(other.prefix(shared + 1)));
    }
  }
}

// -- digest -------------------------------------------------------------------

TEST(message_log, the_digest_is_the_hash_of_the_text_up_to_the_last_message) {
  const auto x = log_of(2);
  sha256 expected;
  expected.update(R"({"messages":[{"content":[{"text":"0"}],"role":"user"},)"
                  R"({"content":[{"text":"1"}],"role":"user"})");
  EXPECT_EQ(x.digest().hex(), expected.hex());
  EXPECT_EQ(x.digest().hex(), expected.hex());
}

TEST(message_log, the_digest_can_go_on_to_the_end_of_the_state) {
  auto x = log_of(2).digest();
  x.update(R"(],"custom":1})");
  sha256 expected;
  expected.update(R"({"messages":)" + to_json_text(log_of(2))
                  + R"(,"custom":1})");
  EXPECT_EQ(x.hex(), expected.hex());
}

TEST(message_log, a_digest_costs_what_was_appended_since_the_last_one) {
  auto x = log_of(1000);
  const auto all = hashed_by([&] { (void)x.digest(); });
  EXPECT_GT(all, 1000u * 38);
  EXPECT_EQ(hashed_by([&] { (void)x.digest(); }), 0u);

  const auto one = to_json_text(user_text("x")).size();
  const auto next = x.with(user_text("x"));
  EXPECT_EQ(hashed_by([&] { (void)next.digest(); }), one + 1);

  const auto more = next.with(std::vector(5, user_text("x")));
  EXPECT_EQ(hashed_by([&] { (void)more.digest(); }), 5 * (one + 1));

  // a fork and a prefix of a longer log reuse the digest, too
  const auto fork = x.with(user_text("y"));
  EXPECT_EQ(hashed_by([&] { (void)fork.digest(); }), one + 1);
  EXPECT_EQ(hashed_by([&] { (void)more.prefix(1000).digest(); }), 0u);

  // a prefix without a digest of its own reuses most of the work
  const auto prefix = x.prefix(999);
  const auto rest = hashed_by([&] { (void)prefix.digest(); });
  EXPECT_GT(rest, 0u);
  EXPECT_LT(rest, all / 1000 * 32);
  EXPECT_EQ(prefix.digest().hex(), hash_from_scratch(prefix.to_vector()));
}

TEST(message_log, what_has_no_json_has_no_digest) {
  const auto good = log_of(2);
  const auto bad = good.with(
    message{role::user, {part::text("a"), part::data(std::nan(""))}});
  const std::string error
    = "$.messages[2].content[1].data: expected a finite number, found NaN";
  EXPECT_EQ(refusal([&] { (void)bad.digest(); }), error);
  EXPECT_EQ(refusal([&] { (void)bad.digest(); }), error);
  EXPECT_EQ(refusal([&] { (void)bad.with(message{}).digest(); }), error);
  EXPECT_EQ(good.digest().hex(), hash_from_scratch(good.to_vector()));
}

RC_GTEST_PROP(message_log, digests_of_any_messages_are_those_of_their_text,
              ()) {
  message_log log;
  std::vector<message> model;
  const auto size = *rc::gen::inRange(1, 5);
  for (auto i = 0; i < size; ++i) {
    model.push_back(*test::any_message());
    log = log.with(model.back());
    if (*rc::gen::arbitrary<bool>())
      RC_ASSERT(log.digest().hex() == hash_from_scratch(model));
  }
  RC_ASSERT(log.digest().hex() == hash_from_scratch(model));
}

// -- JSON ---------------------------------------------------------------------

TEST(message_log, it_is_an_array_in_json) {
  EXPECT_EQ(to_json_text(message_log{}), "[]");
  const auto x = log_of(3);
  const auto text = to_json_text(x);
  EXPECT_EQ(text, to_json_text(x.to_vector()));
  EXPECT_EQ(parse_json<message_log>(text), x);
  EXPECT_EQ(schema_of<message_log>(), schema_of<std::vector<message>>());
  EXPECT_EQ(test::refusal_to_read<message_log>("{}"),
            "$: expected an array, found an object");
  EXPECT_EQ(test::refusal_to_read<message_log>(R"([{},{"role":1}])"),
            "$[1].role: expected a string, found 1");
}

// -- threads ------------------------------------------------------------------

TEST(message_log, many_threads_can_use_one_log_at_once) {
  constexpr std::size_t threads = 8;
  constexpr auto rounds = 20;
  for (auto round = 0; round < rounds; ++round) {
    auto shared = log_of(50);
    const auto expected = hash_from_scratch(shared.to_vector());
    std::latch start{threads};
    std::atomic<int> wrong{0};
    std::vector<std::thread> pool;
    for (std::size_t t = 0; t < threads; ++t)
      pool.emplace_back([&, t, mine = shared]() mutable {
        start.arrive_and_wait();
        if (mine.digest().hex() != expected)
          ++wrong;
        auto model = mine.to_vector();
        for (auto i = 0; i < 20; ++i) {
          mine = mine.with(numbered(t));
          model.push_back(numbered(t));
        }
        if (mine.digest().hex() != hash_from_scratch(model))
          ++wrong;
        if (mine.to_vector() != model)
          ++wrong;
        if (mine.prefix(50).digest().hex() != expected)
          ++wrong;
      });
    shared = {}; // the last thread frees the nodes
    for (auto& thread : pool)
      thread.join();
    EXPECT_EQ(wrong, 0);
  }
}

} // namespace

} // namespace tertulia::test::message_log_tests
