// SPDX-License-Identifier: BSD-3-Clause

#include "runtime/models/openai/connection_pool.hpp"
#include "support/http_server.hpp"
#include "support/refusal.hpp"
#include "support/valve.hpp"
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/asio/write.hpp>
#include <boost/system/system_error.hpp>
#include <gtest/gtest.h>
#include <pthread.h>

using namespace std::literals;

namespace tertulia::test::openai_connection_tests {

namespace {

namespace asio = boost::asio;
using network::name_search;

/// Scope in which no thread can be started.
class without_threads {
public:
  without_threads() {
    ::pthread_getattr_default_np(&before_);
    pthread_attr_t greedy;
    ::pthread_attr_init(&greedy);
    // As large as the address space of a process.
    ::pthread_attr_setstacksize(&greedy, std::size_t{1} << 47);
    ::pthread_setattr_default_np(&greedy);
    ::pthread_attr_destroy(&greedy);
  }

  without_threads(const without_threads&) = delete;
  without_threads& operator=(const without_threads&) = delete;

  ~without_threads() {
    ::pthread_setattr_default_np(&before_);
    ::pthread_attr_destroy(&before_);
  }

private:
  pthread_attr_t before_{};
};

/// Fixture whose I/O thread is the thread of the test.
struct openai_connection : testing::Test {
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

  ~openai_connection() override {
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

TEST_F(openai_connection, a_search_for_a_name_that_hangs_is_left_in_time) {
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

TEST_F(openai_connection, all_who_wait_for_a_name_share_one_search) {
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

TEST_F(openai_connection, a_name_that_is_not_found_is_told) {
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

TEST_F(openai_connection, a_search_that_cannot_begin_is_told) {
  openai::destination to;
  to.server = openai::parse_url("http://example.org");
  to.names = search([](const auto&, const auto&) {
    ADD_FAILURE() << "there is a thread";
    return name_search::addresses{};
  });
  to.connect_within = 1min;
  openai::connection line{io->get_executor()};
  const without_threads now;
  auto connected = begin(line.connect(to));
  io->run();
  EXPECT_EQ(code_from([&] { connected.get(); }), errc::unavailable);
}

TEST_F(openai_connection, the_system_finds_this_machine) {
  const auto found = name_search::ask_system("localhost", "80");
  ASSERT_FALSE(found.empty());
  EXPECT_TRUE(found.front().address().is_loopback());
  EXPECT_EQ(found.front().port(), 80);
}

TEST_F(openai_connection, a_name_that_is_never_found_is_no_connection_in_time) {
  openai::destination to;
  to.server = openai::parse_url("http://example.org");
  to.names = long_search();
  to.connect_within = 10ms;
  openai::connection line{io->get_executor()};
  auto connected = begin(line.connect(to));
  io->run();
  const auto error = error_of([&] { connected.get(); });
  EXPECT_EQ(error.code(), errc::deadline_exceeded);
  EXPECT_EQ(error.message(), "no connection to example.org:80 in time");
}

TEST_F(openai_connection, what_is_idle_is_closed_in_time) {
  gate closed;
  gate asked;
  http_server server{[&](http_server::peer& client, const auto&) {
    asked.open();
    client.wait_until_closed();
    closed.open();
    client.close();
  }};
  openai::destination to;
  to.server = openai::parse_url(server.url());
  to.connect_within = 1min;
  auto line = std::make_unique<openai::connection>(io->get_executor());
  auto connected = begin(line->connect(to));
  io->run();
  connected.get();
  asio::write(line->socket.socket(), asio::buffer("GET / HTTP/1.1\r\n\r\n"sv));
  asked.wait();
  openai::connection_pool pool{io->get_executor(), 1, 10ms};
  pool.give(std::move(line));
  io->restart();
  io->run(); // until no work is left
  closed.wait();
  EXPECT_EQ(pool.take(), nullptr);
}

TEST_F(openai_connection, a_pool_that_has_gone_is_not_waited_for) {
  {
    openai::connection_pool pool{io->get_executor(), 1, 1h};
    pool.give(std::make_unique<openai::connection>(io->get_executor()));
    EXPECT_EQ(io->poll(), 0u);
    EXPECT_FALSE(io->stopped()) << "its timer runs";
  }
  io->run();
}

TEST_F(openai_connection, an_address_needs_no_search) {
  http_server server{[](http_server::peer&, const auto&) {}};
  openai::destination to;
  to.server = openai::parse_url(server.url());
  to.names = long_search();
  to.connect_within = 1min;
  openai::connection line{io->get_executor()};
  auto connected = begin(line.connect(to));
  io->run();
  EXPECT_NO_THROW(connected.get());
  EXPECT_EQ(*asked, 0);
}

} // namespace tertulia::test::openai_connection_tests
