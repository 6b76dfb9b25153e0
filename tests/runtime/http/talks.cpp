// SPDX-License-Identifier: BSD-3-Clause

// Clients of runs in the name of programs elsewhere.

#include <chrono>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "runtime/http/talk.hpp"
#include "support/has.hpp"
#include "support/web_fixture.hpp"
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_future.hpp>

using namespace std::literals;

namespace tertulia::test::talk_tests {

namespace {

namespace http = tertulia::web;

using kind = http::frame_kind;

struct talks : web {
  /// Returns the frames that have come, or come next.
  std::vector<http::frame> take() {
    std::vector<http::frame> result;
    EXPECT_EQ(wait_for(reader.take(result)), reader_type::outcome::items);
    return result;
  }

  template <class T>
  T wait_for(boost::asio::awaitable<T> x) {
    auto done
      = boost::asio::co_spawn(io, std::move(x), boost::asio::use_future);
    io.restart();
    io.run();
    return done.get();
  }

  using reader_type = http::channel_reader<http::frame>;
  boost::asio::io_context io;
  reader_type reader{io.get_executor()};
};

} // namespace

// The client is told that its refusals are not read, in place of the output.
TEST_F(talks, confirm_no_end_that_was_not_passed_on) {
  rt.define_bidi_flow(
    "brief", [](context, input<int>, output<std::string> out) -> task<int> {
      co_await out.send(std::string(2 * http::talk::room, 'x'));
      co_return 7;
    });
  http::opening what;
  what.options.disconnect = on_disconnect::keep;
  what.options.grace = 1h;
  const auto action = rt.action("/bidi-flow/brief");
  std::string run;
  {
    http::talk at{system, action, std::move(what), reader.source()};
    run = json::parse(take().front().text)["run"];
    EXPECT_TRUE(eventually([&] {
      return action.find_run(run_id{run}).status != run_status::running;
    }));
    // Nobody says that the channel was drained, so the client has stopped to
    // read behind the chunk, and the end of the run waits in it.
    for (auto last = kind::opened; last != kind::error;) {
      for (int i = 0; i < 100; ++i)
        at.send(payload::of(json("is refused")));
      last = take().back().kind;
      ASSERT_NE(last, kind::output);
    }
    at.confirm();
    wait_for(at.wait_until_taken(io.get_executor()));
    static_cast<void>(action.find_run(run_id{run})); // it comes behind that
  }
  auto again = serve();
  const auto events
    = again.call("GET", "/events/bidi-flow/brief?after=0&run=" + run);
  EXPECT_TRUE(has(events.body, "event: output", "data: 7")) << events.body;
}

} // namespace tertulia::test::talk_tests
