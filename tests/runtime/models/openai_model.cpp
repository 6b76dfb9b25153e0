// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/ai/chat_agent.hpp>
#include <tertulia/memory_store.hpp>

#include "support/openai_client.hpp"

using namespace std::literals;

namespace tertulia::test::openai_model_tests {

namespace {

struct openai_model : openai_client {
  /// Cancels a call whose server has begun its answer like this and sends no
  /// more: both ends must notice.
  template <class Begin>
  void expect_a_cancel_closes(Begin begin) {
    gate begun;
    gate closed;
    serve([&](http_peer& client, const auto&) {
      begin(client);
      begun.open();
      client.wait_until_closed();
      closed.open();
      client.close();
    });
    expect_left_by_cancel(begun);
    closed.wait();
    server.reset(); // the gates are not used any more
  }

  /// Calls the model, and cancels the call once the gate is open.
  void expect_left_by_cancel(const gate& begun) {
    auto talk = define().action().stream_bidi(asking("Hi"));
    begun.wait();
    talk.cancel();
    EXPECT_EQ(code_from([&] { talk.output(patience); }), errc::cancelled);
  }
};

} // namespace

// -- successful calls ---------------------------------------------------------

TEST_F(openai_model, it_streams_what_the_server_says) {
  const auto got = ask(say_hello);
  EXPECT_EQ(got.pieces, (std::vector{"Hel"s, "lo"s}));
  EXPECT_EQ(got.value().text(), "Hello");
  EXPECT_EQ(got.value().finish_reason, ai::finish_reason::stop);
  EXPECT_EQ(got.value().usage, (ai::generation_usage{3, 2}));
  EXPECT_GT(got.value().latency_ms, 0);
  const auto request = server->requests().at(0);
  EXPECT_TRUE(request.starts_with("POST /v1/chat/completions HTTP/1.1\r\n"));
  EXPECT_TRUE(has(request, "\r\nAuthorization: Bearer sk-secret\r\n",
                  R"("content":"Hi")"));
}

TEST_F(openai_model, pieces_come_before_the_answer_is_complete) {
  valve rest;
  serve([&](http_peer& client, const auto&) {
    client.begin_events();
    client.send_chunk(sse_text("Hel"));
    rest.wait();
    client.send_last_chunk(sse_text("lo") + sse_end);
  });
  auto talk = define().action().stream_bidi(asking("Hi"));
  auto pieces = talk.responses(patience);
  auto i = pieces.begin();
  EXPECT_EQ(i->text(), "Hel");
  rest.open();
  ++i;
  EXPECT_EQ(i->text(), "lo");
  EXPECT_EQ(talk.output(patience).text(), "Hello");
}

TEST_F(openai_model, bytes_may_come_one_by_one) {
  const auto got = ask([](http_peer& client, const auto&) {
    const auto text = sse_text("caf\xC3\xA9 \xE2\x82\xAC") + sse_end;
    client.send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
                "Content-Length: "
                + std::to_string(text.size()) + "\r\n\r\n");
    // The system may join them: the test of the event parser proves
    // that any split is harmless.
    for (const auto x : text)
      client.send(std::string_view{&x, 1});
  });
  EXPECT_EQ(got.value().text(), "caf\xC3\xA9 \xE2\x82\xAC");
}

TEST_F(openai_model, a_slow_first_byte_is_waited_for) {
  valve begin;
  serve([&](http_peer& client, const auto&) {
    begin.wait();
    say_hello(client);
  });
  const auto model = define();
  auto talk = model.action().stream_bidi(asking("Hi"));
  EXPECT_TRUE(eventually([&] { return server->requests().size() == 1; }));
  begin.open();
  EXPECT_EQ(talk.output(patience).text(), "Hello");
}

TEST_F(openai_model, two_tool_calls_whose_arguments_come_in_pieces) {
  const auto got = ask([](http_peer& client, const auto&) {
    client.begin_events();
    const auto send = [&](std::string_view calls) {
      client.send_chunk(sse_event(R"({"choices":[{"delta":{"tool_calls":)"
                                  + std::string{calls} + "}}]}"));
    };
    send(R"([{"index":0,"id":"x","function":{"name":"weather",)"
         R"("arguments":"{\"ci"}}])");
    send(R"([{"index":0,"function":{"arguments":"ty\":\"Lisbon\"}"}}])");
    send(R"([{"index":1,"id":"y","function":{"name":"clock",)"
         R"("arguments":"{}"}}])");
    client.send_last_chunk(sse_end);
  });
  EXPECT_EQ(
    got.value().message->content,
    (std::vector{ai::part::request("weather", json{{"city", "Lisbon"}}, "x"),
                 ai::part::request("clock", json::object(), "y")}));
}

TEST_F(openai_model, a_server_that_does_not_stream_is_understood) {
  EXPECT_EQ(ask(answering("200 OK",
                          R"({"choices":[{"message":{"content":"Hello"},)"
                          R"("finish_reason":"stop"}]})",
                          "Content-Type: application/json\r\n"))
              .value()
              .text(),
            "Hello");
}

// -- connections --------------------------------------------------------------

TEST_F(openai_model, a_connection_serves_one_request_after_the_other) {
  serve(say_hello);
  const auto model = define();
  for (int i = 0; i < 5; ++i)
    EXPECT_EQ(hear(model).code(), errc::ok);
  EXPECT_EQ(server->requests().size(), 5u);
  EXPECT_EQ(server->connections(), 1u);
}

TEST_F(openai_model, a_kept_connection_that_was_closed_is_replaced) {
  options.max_retries = 0;
  serve([](http_peer& client, const auto&) {
    say_hello(client);
    client.close();
  });
  const auto model = define();
  for (int i = 0; i < 5; ++i)
    EXPECT_EQ(hear(model).code(), errc::ok);
  EXPECT_EQ(server->requests().size(), 5u);
}

TEST_F(openai_model, many_requests_are_under_way_at_once) {
  constexpr std::size_t count = 50;
  valve all_there;
  serve([&](http_peer& client, const auto&) {
    all_there.wait();
    say_hello(client);
  });
  const auto model = define();
  using talk_type = decltype(model.action().stream_bidi());
  std::vector<talk_type> talks;
  for (std::size_t i = 0; i < count; ++i)
    talks.push_back(model.action().stream_bidi(asking("Hi")));
  EXPECT_TRUE(eventually([&] { return server->requests().size() == count; }));
  all_there.open();
  for (auto& x : talks)
    EXPECT_EQ(x.output(patience).text(), "Hello");
}

TEST_F(openai_model, what_nobody_reads_is_not_read_from_the_server) {
  std::atomic<std::size_t> sent = 0;
  std::atomic<bool> is_stuck = false;
  serve([&](http_peer& client, const auto&) {
    client.begin_events();
    const auto piece = sse_text(std::string(1'000, 'x'));
    for (;;) {
      pollfd writable{client.socket(), POLLOUT, 0};
      if (::poll(&writable, 1, 200) != 1) {
        is_stuck = true;
        return client.wait_until_closed();
      }
      if (!client.send_chunk(piece))
        return;
      sent += piece.size();
    }
  });
  auto talk = define().action().stream_bidi(asking("Hi"));
  EXPECT_EQ(talk.responses(patience).begin()->text().size(), 1'000u);
  EXPECT_TRUE(eventually([&] { return is_stuck.load(); }));
  EXPECT_LT(sent.load(), options.max_answer_size)
    << "it would have been refused";
}

// -- cancel -------------------------------------------------------------------

TEST_F(openai_model, a_cancel_closes_the_connection_at_once) {
  expect_a_cancel_closes([](http_peer& client) {
    client.begin_events();
    client.send_chunk(sse_text("Hel"));
  });
}

TEST_F(openai_model, a_server_that_never_answers_is_left_by_a_cancel) {
  expect_a_cancel_closes([](http_peer&) {});
}

TEST_F(openai_model, a_pause_before_a_retry_is_left_by_a_cancel) {
  options.first_retry_after = 1h;
  options.max_retry_after = 2h;
  options.total_within = 10h;
  gate answered;
  serve([&](http_peer& client, const auto&) {
    client.answer("503 Busy", "");
    answered.open();
  });
  expect_left_by_cancel(answered);
}

// -- proxies and TLS ----------------------------------------------------------

TEST_F(openai_model, a_proxy_is_asked_to_connect) {
  serve([](http_peer& client, const std::string& request) {
    if (request.starts_with("CONNECT "))
      client.send("HTTP/1.1 200 Connected\r\n\r\n");
    else
      say_hello(client);
  });
  options.proxy
    = "http://me:secret@127.0.0.1:" + std::to_string(server->port());
  options.base_url = "http://models.invalid:8080/v1";
  EXPECT_EQ(hear(define()).value().text(), "Hello");
  const auto requests = server->requests();
  ASSERT_EQ(requests.size(), 2u);
  EXPECT_TRUE(requests[0].starts_with("CONNECT models.invalid:8080 HTTP/1.1"));
  EXPECT_TRUE(has(requests[0], "Proxy-Authorization: Basic bWU6c2VjcmV0\r\n"));
  EXPECT_FALSE(has(requests[0], "sk-secret"));
  EXPECT_TRUE(requests[1].starts_with("POST /v1/chat/completions"));
}

TEST_F(openai_model, a_proxy_that_refuses_is_told) {
  serve(answering("407 Who are you"));
  options.proxy = "http://127.0.0.1:" + std::to_string(server->port());
  options.base_url = "http://models.invalid/v1";
  EXPECT_EQ(hear(define()).code(), errc::permission_denied);
}

TEST_F(openai_model, a_server_without_tls_is_left_in_time) {
  options.max_retries = 0;
  options.connect_within = 50ms;
  serve(say_hello);
  options.base_url = "https://127.0.0.1:" + std::to_string(server->port());
  EXPECT_EQ(hear(define()).code(), errc::deadline_exceeded);
  EXPECT_TRUE(server->requests().empty());
}

// -- conversations ------------------------------------------------------------

TEST_F(openai_model, earlier_turns_stay_stored_when_the_server_fails) {
  int count = 0;
  options.max_retries = 0;
  serve([&](http_peer& client, const auto&) {
    if (++count == 1)
      say_hello(client);
    else
      client.answer("500 Oops", "");
  });
  const auto model = define();
  const auto chat = ai::define_chat_agent(
    *rt, "chat",
    [model](context ctx, ai::chat_session<nothing> sess,
            input<ai::conversation_input> in,
            ai::chat_responder<nothing> out) -> task<> {
      while (auto input = co_await in.next()) {
        co_await sess.add_messages(input->messages);
        auto messages = co_await sess.messages();
        ai::generate_request request{std::move(messages)};
        auto answer = co_await model.generate(
          ctx, std::move(request), [&](ai::model_response_chunk x) {
            return out.send_chunk(std::move(x));
          });
        std::vector<ai::message> answers;
        answers.push_back(std::move(*answer.message));
        co_await sess.add_messages(std::move(answers));
        co_await out.end_turn();
      }
    },
    with_snapshot_store(spawn_memory_store(system)),
    with_snapshot_callback(snapshot_on{snapshot_event::turn_end}));
  const auto id = with_session_id("s");
  {
    auto talk = chat.stream_bidi(id);
    talk.send_text("Hi");
    for (auto& x : talk.responses(patience))
      (void)x;
    talk.send_text("And now?");
    EXPECT_EQ(code_from([&] { (void)talk.output(patience); }), errc::internal);
  }
  auto again = chat.stream_bidi(id, with_take_over{});
  again.close();
  EXPECT_EQ(again.output(patience).state.messages,
            (ai::message_log{{ai::user_text("Hi"), ai::model_text("Hello")}}));
  rt.reset(); // it holds the store
}

} // namespace tertulia::test::openai_model_tests
