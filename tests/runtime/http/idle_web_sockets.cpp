// SPDX-License-Identifier: BSD-3-Clause

// WebSockets over which nothing is said for long.

#include <cstddef>
#include <string>

#include "support/web_fixture.hpp"

using namespace std::literals;

namespace tertulia::test::idle_web_socket_tests {

namespace {

/// Frames without a payload; that of a client has a mask of zeros.
constexpr auto ping = "\x89\0"sv;
constexpr auto pong = "\x8A\x80\0\0\0\0"sv;

struct idle_web_sockets : web {
  /// Opens a run that ends with its client.
  /// @param idle time after whose half the server pings.
  web_talk open(caf::timespan idle) {
    serve({.idle_within = idle});
    web_talk result{server->port(), "/talk" + counter};
    result.send({{"open", {{"keep", false}}}});
    EXPECT_TRUE(result.read().contains("opened"));
    EXPECT_TRUE(eventually([] { return witness::alive() == 1; }));
    return result;
  }

  /// Reads a number of bytes, or all of them if the server ends the connection
  /// before.
  static std::string read_bytes(web_talk& from, std::size_t size) {
    std::string result(size, '\0');
    boost::system::error_code end;
    result.resize(
      boost::asio::read(from.connection(), boost::asio::buffer(result), end));
    return result;
  }
};

} // namespace

TEST_F(idle_web_sockets, stay_open_while_they_answer_pings) {
  auto at = open(2s);
  // The third one comes when a client that is silent would be gone.
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(read_bytes(at, ping.size()), ping);
    boost::asio::write(at.connection(),
                       boost::asio::buffer(pong.data(), pong.size()));
  }
  at.send({{"input", 1}});
  EXPECT_TRUE(at.read_until("turnEnd").contains("turnEnd"));
  EXPECT_EQ(witness::alive(), 1);
}

TEST_F(idle_web_sockets, end_with_their_run_if_they_do_not_answer_a_ping) {
  auto at = open(600ms);
  EXPECT_EQ(read_bytes(at, 64), ping) << "nothing but the end follows";
  EXPECT_TRUE(eventually([] { return witness::alive() == 0; }));
}

} // namespace tertulia::test::idle_web_socket_tests
