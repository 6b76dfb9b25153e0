// SPDX-License-Identifier: BSD-3-Clause

// Streams that are longer than what waits for a socket.

#include <atomic>
#include <string>
#include <utility>
#include <vector>

#include "support/effort.hpp"
#include "support/web_fixture.hpp"

using namespace std::literals;

namespace tertulia::test::long_stream_tests {

namespace {

struct web_streams : web {
  /// Adds a flow that sends whenever it has credit.
  void define_endless() {
    rt.define_bidi_flow("endless",
                        [this](context, input<int>,
                               output<std::string> out) -> task<int> {
                          const witness alive;
                          for (;; ++sent)
                            co_await out.send(std::string(10'000, 'x'));
                        });
  }

  /// Opens a stream of that flow for a client that does not read, and waits
  /// until the flow has sent something.
  void open(web_client& at, const std::string& target) {
    sent = 0;
    at.socket().set_option(
      boost::asio::socket_base::receive_buffer_size{16'384});
    at.socket().non_blocking(true);
    at.ask("POST", target, "{}", "Accept: text/event-stream\r\n");
    EXPECT_TRUE(eventually([this] { return sent > 0; }));
  }

  /// Reads what has arrived.
  /// @returns whether the server has ended the connection.
  static bool read_on(web_client& at) {
    std::vector<char> bytes(65'536);
    boost::system::error_code problem;
    at.socket().read_some(boost::asio::buffer(bytes), problem);
    return problem && problem != boost::asio::error::would_block;
  }

  std::atomic<int> sent = 0; ///< chunks of that flow
};

/// Event streams of that flow.
const std::vector<std::string> streams{"/actions/bidi-flow/endless",
                                       "/genkit/bidi-flow/endless"};

} // namespace

// The client of a run stops when much waits to be written, which may be before
// the answer to the opening is read.
TEST_F(web_streams, may_be_long_before_they_are_read) {
  rt.define_bidi_flow("writer",
                      [](context, input<int>,
                         output<std::string> out) -> task<std::string> {
                        for (int i = 0; i < 400; ++i)
                          co_await out.send(std::string(1'000, 'x'));
                        co_return "done";
                      });
  auto at = serve();
  for (int i = 0; i < by_effort(10, 60, 60); ++i) {
    EXPECT_EQ(at.call("POST", "/actions/bidi-flow/writer").document()["output"],
              "done");
    EXPECT_EQ(at.call("POST", "/genkit/bidi-flow/writer", "{}").body,
              R"({"result":"done"})");
  }
}

TEST_F(web_streams, hold_back_a_body_whose_client_does_not_read) {
  constexpr int far_too_many = 2'000;
  define_endless();
  auto other = serve();
  for (const auto& target : streams) {
    auto at = client();
    open(at, target);
    // The sockets take a few megabytes; then nothing moves but other clients.
    auto before = -1;
    for (int calm = 0; calm < 50 && sent < far_too_many;) {
      EXPECT_EQ(
        other.call("POST", "/actions" + counter, R"({"inputs":[1]})").status,
        200u);
      const auto now = sent.load();
      calm = now == std::exchange(before, now) ? calm + 1 : 0;
    }
    EXPECT_LT(sent, far_too_many) << target;
    const auto held = sent.load();
    EXPECT_TRUE(eventually([&] { return read_on(at) || sent > held; }));
    EXPECT_GT(sent, held) << "it goes on when its client reads";
    at.close();
    EXPECT_TRUE(eventually([] { return witness::alive() == 0; })) << target;
  }
}

TEST_F(web_streams, end_if_their_client_does_not_read_in_time) {
  define_endless();
  auto other = serve({.write_within = 100ms});
  for (const auto& target : streams) {
    auto at = client();
    open(at, target);
    EXPECT_TRUE(eventually([] { return witness::alive() == 0; })) << target;
    EXPECT_TRUE(eventually([&] { return read_on(at); })) << target;
    EXPECT_EQ(other.call("GET", "/healthz").status, 200u);
  }
}

} // namespace tertulia::test::long_stream_tests
