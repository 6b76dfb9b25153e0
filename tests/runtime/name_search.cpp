// SPDX-License-Identifier: BSD-3-Clause

#include "runtime/tls/name_search.hpp"

#include "support/valve.hpp"
#include "support/without_threads.hpp"
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/system/system_error.hpp>
#include <gtest/gtest.h>

using namespace std::literals;

namespace tertulia::test::name_search_tests {

namespace {

namespace asio = boost::asio;
using network::name_search;

/// Fixture whose I/O thread is the thread of the test.
struct name_searches : ::testing::Test {
  template <class T>
  std::future<T> begin(asio::awaitable<T> work) {
    return asio::co_spawn(*io, std::move(work), asio::use_future);
  }

  std::future<name_search::addresses> begin(name_search& names,
                                            caf::timespan within) {
    return begin(names.find(name_search::clock::now() + within));
  }

  std::shared_ptr<name_search> search(name_search::look_up how) {
    return std::make_shared<name_search>(io, "example.org", "80",
                                         std::move(how));
  }

  /// Returns a search that lasts until `answer` is opened.
  std::shared_ptr<name_search> long_search() {
    return search([until = answer, count = asked](const auto&, const auto&) {
      ++*count;
      until->wait();
      return name_search::addresses{{asio::ip::address_v4::loopback(), 7}};
    });
  }

  ~name_searches() override {
    answer->open();
    io->restart();
    io->run(); // runs handlers posted by the threads of searches
  }

  std::shared_ptr<asio::io_context> io = std::make_shared<asio::io_context>(1);
  std::shared_ptr<valve> answer = std::make_shared<valve>();
  std::shared_ptr<std::atomic<int>> asked
    = std::make_shared<std::atomic<int>>(0);
};

} // namespace

TEST_F(name_searches, a_search_for_a_name_that_hangs_is_left_in_time) {
  const auto names = long_search();
  auto found = begin(*names, 10ms);
  io->run();
  try {
    found.get();
    FAIL() << "it was found";
  } catch (const boost::system::system_error& x) {
    EXPECT_EQ(x.code(), asio::error::timed_out);
  }
}

TEST_F(name_searches, all_who_wait_for_a_name_share_one_search) {
  const auto names = long_search();
  auto hasty = begin(*names, 10ms);
  io->run();
  auto first = begin(*names, 1min);
  auto second = begin(*names, 1min);
  asio::post(*io, [this] { answer->open(); });
  io->restart();
  io->run();
  EXPECT_EQ(first.get().at(0).port(), 7);
  EXPECT_EQ(second.get().at(0).port(), 7);
  EXPECT_EQ(*asked, 1);
  EXPECT_THROW(hasty.get(), boost::system::system_error);
  auto later = begin(*names, 1min);
  io->restart();
  io->run();
  EXPECT_EQ(later.get().size(), 1u);
  EXPECT_EQ(*asked, 2) << "an answer is not kept";
}

TEST_F(name_searches, a_name_that_is_not_found_is_told) {
  const auto names = search([](const auto&, const auto&) {
    throw boost::system::system_error{asio::error::host_not_found};
    return name_search::addresses{};
  });
  const auto nothing_found
    = search([](const auto&, const auto&) { return name_search::addresses{}; });
  for (const auto& x : {names, nothing_found}) {
    auto found = begin(*x, 1min);
    io->restart();
    io->run();
    EXPECT_THROW(found.get(), boost::system::system_error);
  }
}

TEST_F(name_searches, a_search_that_cannot_begin_is_told) {
  const auto names = search([](const auto&, const auto&) {
    ADD_FAILURE() << "there is a thread";
    return name_search::addresses{};
  });
  const without_threads now;
  auto found = begin(*names, 1min);
  io->run();
  EXPECT_THROW(found.get(), boost::system::system_error);
}

TEST_F(name_searches, the_system_finds_this_machine) {
  const auto found = name_search::ask_system("localhost", "80");
  ASSERT_FALSE(found.empty());
  EXPECT_TRUE(found.front().address().is_loopback());
  EXPECT_EQ(found.front().port(), 80);
}

} // namespace tertulia::test::name_search_tests
