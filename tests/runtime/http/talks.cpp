// SPDX-License-Identifier: BSD-3-Clause

// Clients of runs in the name of programs elsewhere, and the runs that they
// come to.

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runtime/http/talk/talk.hpp"
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
  auto terms = std::make_unique<http::open_terms>();
  terms->options.disconnect = on_disconnect::keep;
  terms->options.grace = 1h;
  const auto action = rt.action("/bidi-flow/brief");
  std::string run;
  {
    http::talk at{system, action, std::move(terms), reader.source()};
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

// -- runs ---------------------------------------------------------------------

TEST_F(web, opens_a_run_that_clients_come_to) {
  auto at = serve();
  const auto opened = at.call("POST", "/runs" + counter, R"({"inputs":[3]})");
  EXPECT_EQ(opened.status, 201u);
  const auto run = opened.document()["run"].get<std::string>();
  const auto query = "?run=" + run;
  EXPECT_EQ(at.call("GET", "/runs" + counter + query).document()["status"],
            "running");
  auto listener = client();
  listener.ask("GET", "/events" + counter + query + "&after=0");
  EXPECT_TRUE(has(listener.read_until("turnEnd\nid: 4"), "data: [0,1,2]"));
  const auto sent = at.call("POST", "/inputs" + counter + query,
                            R"({"inputs":[2],"number":1})");
  EXPECT_EQ(sent.status, 202u);
  EXPECT_EQ(sent.document()["accepted"], 1);
  EXPECT_TRUE(has(listener.read_until("turnEnd\nid: 7"), "data: [3,4]"));
  const auto again = at.call("POST", "/inputs" + counter + query,
                             R"({"inputs":[2],"number":1,"close":true})");
  EXPECT_EQ(again.document()["accepted"], 0) << "it was sent before";
  EXPECT_TRUE(has(listener.read_until("event: output\nid: 7\ndata: 5"), "5"));
  EXPECT_EQ(inputs, 2);
}

TEST_F(web, continues_event_streams_behind_the_last_event) {
  auto at = serve();
  const auto run = at.call("POST", "/runs" + counter, R"({"inputs":[2,2,2]})")
                     .document()["run"]
                     .get<std::string>();
  const auto target = "/events" + counter + "?run=" + run;
  for (const auto* last : {"0", "1", "2", "3", "5", "8"}) {
    auto listener = client();
    listener.ask("GET", target, {}, "Last-Event-ID: "s + last + "\r\n");
    const auto text = listener.read_until("turnEnd\nid: 9");
    EXPECT_EQ(has(text, "[0,1]"), *last == '0');
    EXPECT_EQ(has(text, "5]"), *last != '8') << text;
  }
  EXPECT_EQ(at.call("GET", target, {}, "Last-Event-ID: 10\r\n").status, 400u);
  EXPECT_EQ(at.call("GET", target, {}, "Last-Event-ID: x\r\n").status, 400u);
  EXPECT_EQ(at.call("DELETE", "/runs" + counter + "?run=" + run).status, 200u);
  EXPECT_TRUE(eventually([] { return witness::alive() == 0; }));
}

TEST_F(web, holds_the_end_of_a_run_until_a_client_has_it) {
  auto at = serve();
  const auto run
    = at.call("POST", "/runs" + counter).document()["run"].get<std::string>();
  const auto query = counter + "?run=" + run;
  const auto confirm = [&](const char* body = R"({"confirm":true})") {
    return at.call("POST", "/inputs" + query, body);
  };
  EXPECT_EQ(confirm().document()["status"], "FAILED_PRECONDITION");
  // The network may have lost the answers and the streams.
  EXPECT_EQ(at.call("POST", "/inputs" + query, R"({"close":true})").status,
            202u);
  EXPECT_TRUE(eventually([] { return witness::alive() == 0; }));
  for (int time = 0; time < 3; ++time) {
    auto listener = client();
    listener.ask("GET", "/events" + query);
    EXPECT_TRUE(has(listener.read_until("data: 0\n"), "event: output"));
  }
  EXPECT_EQ(confirm(R"({"confirm":true,"inputs":[1]})").status, 400u);
  EXPECT_EQ(confirm(R"({"inputs":[1]})").document()["status"],
            "FAILED_PRECONDITION")
    << "it has ended";
  EXPECT_EQ(confirm().status, 202u);
  EXPECT_TRUE(eventually([&] { return confirm().status == 404u; }));
  EXPECT_EQ(at.call("GET", "/events" + query).status, 404u);
}

TEST_F(web, refuses_unknown_runs_and_missing_inputs) {
  auto at = serve();
  EXPECT_EQ(at.call("GET", "/runs" + counter + "?run=none").status, 404u);
  EXPECT_EQ(at.call("DELETE", "/runs" + counter).status, 400u);
  EXPECT_EQ(at.call("GET", "/events" + counter + "?run=none").status, 404u);
  EXPECT_EQ(at.call("POST", "/inputs" + counter + "?run=none",
                    R"({"inputs":[1]})")
              .status,
            404u);
  const auto run
    = at.call("POST", "/runs" + counter).document()["run"].get<std::string>();
  EXPECT_EQ(at.call("POST", "/inputs" + counter + "?run=" + run,
                    R"({"inputs":[1],"number":2})")
              .status,
            400u);
}

} // namespace tertulia::test::talk_tests
