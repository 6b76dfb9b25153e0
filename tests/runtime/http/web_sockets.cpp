// SPDX-License-Identifier: BSD-3-Clause

// Talks by WebSocket.

#include <tertulia/ai/session_flow.hpp>

#include <atomic>
#include <future>
#include <memory>
#include <string>

#include "support/conversations.hpp"
#include "support/has.hpp"
#include "support/web_fixture.hpp"

using namespace std::literals;

namespace tertulia::test::web_socket_tests {

namespace {

struct web_sockets : web {
  web_talk talk(const std::string& action = counter) {
    return {server->port(), "/talk" + action};
  }

  /// Opens a run.
  web_talk open(const json& options = json::object()) {
    auto result = talk();
    result.send({{"open", options}});
    opened = result.read()["opened"];
    return result;
  }

  json opened;
};

} // namespace

TEST_F(web_sockets, talk_turn_by_turn) {
  serve();
  auto at = open();
  for (int turn = 0; turn < 3; ++turn) {
    at.send({{"input", 2}});
    std::vector<int> chunks;
    for (;;) {
      const auto x = at.read();
      if (x.contains("turnEnd"))
        break;
      for (const auto& chunk : x["chunks"])
        chunks.push_back(chunk);
    }
    EXPECT_EQ(chunks, (std::vector{2 * turn, 2 * turn + 1}));
  }
  at.send({{"close", true}});
  EXPECT_EQ(at.read()["output"], 6);
  EXPECT_EQ(at.code(), 4000);
}

TEST_F(web_sockets, come_back_to_their_run) {
  serve();
  std::uint64_t next = 0;
  {
    auto at = open();
    at.send({{"input", 3}});
    next = at.read_until("turnEnd")["next"];
    at.drop();
  }
  const auto run = opened["run"];
  auto again = open({{"run", run}, {"after", next}});
  EXPECT_EQ(opened["inputs"], 1);
  again.send({{"input", 1}});
  EXPECT_EQ(again.read()["chunks"], json::array({3}));
  auto listener = open({{"run", run}, {"after", 0}, {"role", "listener"}});
  EXPECT_EQ(listener.read()["chunks"][0], 0);
  again.send({{"detach", true}});
  EXPECT_EQ(again.code(), 1000);
  auto last = open({{"run", run}});
  last.send({{"cancel", true}});
  EXPECT_EQ(last.read_until("error")["error"]["status"], "CANCELLED");
  EXPECT_EQ(listener.read_until("error")["error"]["status"], "CANCELLED");
}

TEST_F(web_sockets, hear_the_end_again_unless_they_have_answered_its_closing) {
  serve();
  auto lost = open();
  const auto run = opened["run"];
  lost.send({{"close", true}});
  EXPECT_EQ(lost.read_until("output")["output"], 0);
  lost.drop();
  auto again = open({{"run", run}});
  EXPECT_EQ(again.read_until("output")["output"], 0);
  EXPECT_EQ(again.code(), 4000);
  const auto target = "/runs" + counter + "?run=" + run.get<std::string>();
  EXPECT_TRUE(
    eventually([&] { return client().call("GET", target).status == 404u; }));
}

TEST_F(web_sockets, end_a_run_that_is_not_kept) {
  serve();
  {
    auto at = open({{"keep", false}});
    EXPECT_TRUE(eventually([] { return witness::alive() == 1; }));
    at.drop();
  }
  EXPECT_TRUE(eventually([] { return witness::alive() == 0; }));
}

TEST_F(web_sockets, hear_why_an_input_is_refused) {
  serve();
  auto at = open();
  at.send({{"input", "two"}});
  const auto refused = at.read();
  EXPECT_EQ(refused["refused"]["status"], "INVALID_ARGUMENT");
  at.send({{"input", 1}});
  EXPECT_EQ(at.read()["chunks"], json::array({0})) << "the run goes on";
}

TEST_F(web_sockets, hear_what_they_do_wrong) {
  serve();
  const auto code_of_message = [&](const std::string& text) {
    auto at = talk();
    at.send_text(text);
    EXPECT_EQ(at.read()["error"]["status"], "INVALID_ARGUMENT");
    return at.code();
  };
  for (const auto* text :
       {"{", "[]", "{}", R"({"input":1})", R"({"open":{},"input":1})",
        R"({"open":{"sesion":"s"}})", R"({"open":{"after":1}})", "1"})
    EXPECT_EQ(code_of_message(text), 1008) << text;
  auto later = open();
  later.send({{"inptu", 1}});
  EXPECT_EQ(later.code(), 1008);
  auto binary = open();
  binary.send_binary("x");
  EXPECT_EQ(binary.code(), 1003);
  EXPECT_THROW(talk("/bidi-flow/none"), boost::system::system_error);
}

TEST_F(web_sockets, refuse_a_message_that_is_too_large) {
  serve({.max_body = 1'000});
  auto at = open();
  at.send_text(std::string(1'001, ' '));
  EXPECT_EQ(at.code(), 1009);
}

TEST_F(web_sockets, carry_a_token_as_a_protocol) {
  serve({.tokens = {{"ann", "0123456789abcdef"}}});
  EXPECT_THROW(talk(), boost::system::system_error);
  web_talk at{server->port(), "/talk" + counter, [](auto& request) {
                request.set("Sec-WebSocket-Protocol",
                            "tertulia.1, bearer.0123456789abcdef");
              }};
  at.send({{"open", json::object()}});
  EXPECT_TRUE(at.read().contains("opened"));
}

TEST_F(web_sockets, hold_back_a_body_whose_client_does_not_read) {
  serve();
  std::atomic<int> sent = 0;
  rt.define_bidi_flow(
    "writer", [&](context, input<int>, output<std::string> out) -> task<int> {
      const witness alive;
      for (;; ++sent)
        co_await out.send(std::string(10'000, 'x'));
    });
  auto at = talk("/bidi-flow/writer");
  at.send({{"open", {{"keep", false}, {"chunkWindow", 4}}}});
  auto other = open();
  // The sockets take a few megabytes; then nothing moves but the other client.
  auto before = -1;
  for (int calm = 0; calm < 50; ++calm) {
    other.send({{"input", 1}});
    other.read_until("turnEnd");
    const auto now = sent.load();
    if (now != std::exchange(before, now))
      calm = 0;
  }
  EXPECT_LT(sent, 2'000);
  at.drop();
  EXPECT_TRUE(eventually([] { return witness::alive() == 1; }));
}

TEST_F(web_sockets, hold_back_a_client_whose_inputs_are_not_taken) {
  // Shared: the actor of the client may end behind the test.
  const gate refuse;
  const auto is_refusing = std::make_shared<std::atomic<bool>>(false);
  serve({.redact = [=](const outgoing_value& x, json&) {
    if (x.kind != outgoing_kind::error || is_refusing->exchange(true))
      return;
    refuse.wait(); // and the actor that takes the inputs with it
  }});
  auto at = open();
  auto other = open();
  at.send({{"input", "is refused"}});
  ASSERT_TRUE(eventually([&] { return is_refusing->load(); }));
  // An input of 64 KiB, with a mask of zeros.
  constexpr std::size_t size = 65'536;
  const auto input = R"({"input":")" + std::string(size - 12, 'x') + "\"}";
  const auto message
    = "\x81\xFF"s + std::string(5, '\0') + '\1' + std::string(6, '\0') + input;
  auto& to = at.connection();
  to.non_blocking(true);
  // The system takes some megabytes; then nothing moves but the other client.
  constexpr std::size_t far_too_many = 4'096;
  std::size_t sent = 0;
  for (int calm = 0; calm < 50 && sent < far_too_many * message.size();) {
    boost::system::error_code problem;
    const auto from = sent % message.size();
    const auto done = to.write_some(boost::asio::buffer(message.data() + from,
                                                        message.size() - from),
                                    problem);
    sent += done;
    calm = problem ? calm + 1 : 0;
    if (!problem)
      continue;
    EXPECT_EQ(problem, boost::asio::error::would_block);
    other.send({{"input", 1}});
    other.read_until("turnEnd");
  }
  EXPECT_LT(sent, far_too_many * message.size());
  refuse.open();
  to.non_blocking(false);
  const auto from = sent % message.size();
  boost::asio::write(to, boost::asio::buffer(message.data() + from,
                                             message.size() - from));
  at.send({{"input", 1}});
  EXPECT_TRUE(at.read_until("turnEnd").contains("turnEnd"));
}

TEST_F(web_sockets, hear_the_end_of_a_turn_when_the_server_stops) {
  std::promise<void> has_begun;
  std::promise<void> go_on;
  ai::define_session_flow(
    rt, "slow",
    [&, gate = go_on.get_future().share()](context ctx, flow_session sess,
                                           flow_responder out) -> task<> {
      co_await sess.run_turns(
        ctx, [&](context inner, const ai::conversation_input&) -> task<> {
          has_begun.set_value();
          co_await inner.run_blocking([&gate] { gate.wait(); });
          co_await out.send_text("done");
        });
    });
  serve();
  auto at = talk("/session-flow/slow");
  at.send({{"open", json::object()}});
  const auto run = at.read()["opened"]["run"];
  auto listener = talk("/session-flow/slow");
  listener.send({{"open", {{"run", run}, {"role", "listener"}}}});
  EXPECT_TRUE(listener.read().contains("opened"));
  const json message{{"role", "user"}, {"content", {{{"text", "hi"}}}}};
  at.send({{"input", {{"messages", {message}}}}});
  has_begun.get_future().wait();
  auto idle = open();
  std::jthread stop{[&] { server->stop(); }};
  EXPECT_EQ(idle.code(), 1001) << "without a turn it ends at once";
  go_on.set_value();
  for (auto* x : {&at, &listener}) {
    EXPECT_TRUE(x->read().contains("chunks"));
    EXPECT_TRUE(x->read().contains("turnEnd"));
    EXPECT_EQ(x->code(), 1001);
  }
}

TEST_F(web_sockets, without_a_run_are_closed_when_the_server_stops) {
  serve();
  auto at = talk("/bidi-flow/counter");
  at.send({{"ping", 1}}); // the connection is served, as its answer shows
  EXPECT_TRUE(at.read().contains("error"));
  EXPECT_EQ(at.code(), 1008);
  auto unused = talk("/bidi-flow/counter");
  std::jthread stop{[&] { server->stop(); }};
  EXPECT_EQ(unused.code(), 1001);
}

TEST_F(web_sockets, end_if_they_send_for_ever_and_do_not_read) {
  // Each input is refused, with an answer. The system holds up to 36 MiB of
  // answers, so they are long.
  serve({.redact = [](const outgoing_value&,
                      json& x) { x["padding"] = std::string(4'096, 'x'); },
         .write_within = 200ms});
  auto at = open({{"keep", false}});
  const auto send_for_ever = [&] {
    for (;;)
      at.send({{"input", "two"}});
  };
  EXPECT_THROW(send_for_ever(), boost::system::system_error);
  EXPECT_TRUE(eventually([] { return witness::alive() == 0; }));
}

TEST_F(web_sockets, are_closed_when_the_server_stops) {
  serve();
  auto kept = open();
  const auto run = run_id{opened["run"].get<std::string>()};
  auto mortal = open({{"keep", false}});
  std::jthread stop{[&] { server->stop(); }};
  EXPECT_EQ(kept.code(), 1001);
  EXPECT_EQ(mortal.read()["output"], 0);
  EXPECT_EQ(mortal.code(), 1001);
  EXPECT_EQ(rt.action(counter).find_run(run).status, run_status::running);
}

TEST_F(web_sockets, must_open_a_run_in_time) {
  serve({.request_within = 10ms, .idle_within = 1h});
  web_talk silent{server->port(), "/talk" + counter};
  EXPECT_TRUE(silent.read().is_null());
}

TEST_F(web_sockets, must_send_a_message_in_time_once_it_has_begun) {
  serve({.request_within = 1s, .idle_within = 1h});
  auto silent = open();
  auto slow = open();
  // A text of two bytes that is not the last part, behind a mask of zeros.
  constexpr std::string_view part{"\x01\x82\0\0\0\0{}", 8};
  boost::asio::write(slow.connection(),
                     boost::asio::buffer(part.data(), part.size()));
  // Empty parts of it do not extend the time.
  constexpr std::string_view more{"\0\x80\0\0\0\0", 6};
  boost::system::error_code gone;
  while (!gone)
    boost::asio::write(slow.connection(),
                       boost::asio::buffer(more.data(), more.size()), gone);
  EXPECT_TRUE(slow.read().is_null());
  silent.send({{"input", 1}});
  EXPECT_TRUE(silent.read().contains("chunks"))
    << "a run may have no input for long";
}

} // namespace tertulia::test::web_socket_tests
