// SPDX-License-Identifier: BSD-3-Clause

// The public client of a body. What servers do wrong is tested with the client
// of OpenAI's protocol, which is one of its users.

#include <tertulia/http_stream.hpp>
#include <tertulia/span_recorder.hpp>

#include "support/openai_client.hpp"

using namespace std::literals;

namespace tertulia::test::http_stream_tests {

namespace {

struct http_streams : threaded {
  http_streams() {
    forget_openai_environment();
    options.headers = {{"X-Key", "key-secret"}};
    options.first_retry_after = 1ms;
  }

  void TearDown() override {
    EXPECT_TRUE(nothing_is_left());
  }

  void serve(http_server::handler answer) {
    server.emplace(std::move(answer));
    options.base_url = server->url();
  }

  /// Runs a function that takes a stream of the server, in a body.
  /// @returns its result, or its error.
  template <class Fn, class... Options>
  std::string run(Fn read, const Options&... opening) {
    const auto flow
      = rt->define_bidi_flow("read" + std::to_string(++flows_),
                             [client = http_client{options},
                              read](context ctx, input<std::string>,
                                    output<std::string>) -> task<std::string> {
                               const witness here;
                               http_stream answer{ctx, client};
                               co_return co_await read(answer);
                             });
    auto talk = flow.stream_bidi(opening...);
    talk.close();
    try {
      return talk.output(patience);
    } catch (const status_error& x) {
      return error_text(x);
    }
  }

  http_options options;
  std::optional<http_server> server;

private:
  int flows_ = 0;
};

task<std::string> read_events(http_stream& answer) {
  const auto head = co_await answer.post("/events", "{}");
  std::string result{head.field("x-who")};
  while (const auto event = co_await answer.next_event())
    result += " " + event->name + "=" + event->data;
  co_return result;
}

task<std::string> read_all(http_stream& answer, std::string path) {
  http_request request{"GET", std::move(path)};
  request.headers.emplace_back("X-Empty", "");
  co_await answer.open(std::move(request));
  std::string result;
  for (;;) {
    const auto bytes = co_await answer.read();
    if (bytes.empty())
      co_return result;
    result += bytes;
  }
}

} // namespace

TEST_F(http_streams, events_have_names_and_data) {
  serve(answering("200 OK",
                  "event: start\ndata: 1\n\ndata: 2\ndata: 3\n\n"
                  "event: cut off\ndata: 4\n",
                  "X-Who: me \r\nContent-Type: text/event-stream\r\n"));
  EXPECT_EQ(run(read_events), "me start=1 message=2\n3");
  const auto request = server->requests().at(0);
  EXPECT_TRUE(request.starts_with("POST /v1/events HTTP/1.1\r\n")) << request;
  EXPECT_TRUE(request.ends_with("\r\n\r\n{}")) << request;
  for (const auto* field :
       {"\r\nX-Key: key-secret\r\n", "\r\nContent-Type: application/json\r\n",
        "\r\nUser-Agent: tertulia\r\n"})
    EXPECT_TRUE(has(request, field));
}

TEST_F(http_streams, a_request_has_its_own_method_path_and_fields) {
  serve(answering("201 Created", std::string(100'000, 'x')));
  EXPECT_EQ(
    run([](http_stream& x) { return read_all(x, "/a/../b?c=d"); }).size(),
    100'000u);
  const auto request = server->requests().at(0);
  EXPECT_TRUE(request.starts_with("GET /v1/a/../b?c=d HTTP/1.1\r\n"))
    << request;
  EXPECT_TRUE(has(request, "\r\nX-Empty:\r\n"));
}

TEST_F(http_streams, a_request_carries_the_span_of_its_body) {
  serve(answering("200 OK", "x"));
  const auto read = [](http_stream& x) { return read_all(x, "/"); };
  EXPECT_EQ(run(read), "x");
  EXPECT_FALSE(has(server->requests().at(0), "traceparent"));
  const auto recorder = std::make_shared<span_recorder>(8);
  const auto listening = rt->traces().listen(recorder);
  EXPECT_EQ(run(read), "x");
  const auto span = recorder->find("/bidi-flow/read2");
  ASSERT_NE(span, nullptr);
  EXPECT_TRUE(
    has(server->requests().at(1),
        "\r\ntraceparent: " + span->context.to_traceparent() + "\r\n"));
  EXPECT_FALSE(has(server->requests().at(1), "tracestate"));
  const span_context outside{trace_id::random(), span_id::random()};
  EXPECT_EQ(run(read, with_trace_parent(outside.to_traceparent(), "a=b")), "x");
  EXPECT_TRUE(has(server->requests().at(2), to_string(outside.trace),
                  "\r\ntracestate: a=b\r\n"));
  options.headers.emplace_back("Traceparent", "of the user");
  EXPECT_EQ(run(read), "x");
  EXPECT_TRUE(
    has(server->requests().at(3), "\r\nTraceparent: of the user\r\n"));
  EXPECT_FALSE(has(server->requests().at(3), "traceparent"));
}

TEST_F(http_streams, a_large_request_is_sent_at_once) {
  serve([](http_peer& client, const std::string& request) {
    client.answer("200 OK", std::to_string(request.size()));
  });
  EXPECT_GT(std::stoul(run([](http_stream& x) -> task<std::string> {
              std::string body(3'000'000, 'x');
              co_await x.post("/large", std::move(body));
              co_return co_await x.read();
            })),
            3'000'000u);
  EXPECT_FALSE(has(server->requests().at(0), "Expect:"));
}

TEST_F(http_streams, an_answer_of_another_type_has_no_events) {
  serve(answering("200 OK", "<p>Please sign in</p>",
                  "Content-Type: text/html\r\n"));
  EXPECT_EQ(run(read_events),
            "data_loss: the server's answer is not a stream of events");
}

TEST_F(http_streams, a_redirect_is_not_followed) {
  serve(answering("302 Found", "", "Location: /elsewhere\r\n"));
  EXPECT_EQ(run(read_events),
            "failed_precondition: the server answers with status 302");
  EXPECT_EQ(server->requests().size(), 1u);
}

TEST_F(http_streams, a_date_to_try_again_is_read) {
  const auto retry_at = [&](const char* date) {
    int count = 0;
    serve([&](http_peer& client, const auto&) {
      if (++count == 1)
        client.answer("429 Slow down", "", "Retry-After: "s + date + "\r\n");
      else
        client.answer("200 OK", "", "Content-Type: text/event-stream\r\n");
    });
    (void)run(read_events);
    return server->requests().size();
  };
  EXPECT_EQ(retry_at("Sun, 06 Nov 1994 08:49:37 GMT"), 2u) << "it is over";
  EXPECT_EQ(retry_at("Sat, 01 Jan 2200 00:00:00 GMT"), 1u) << "it is too far";
  for (const auto* x : {"0", "soon", "-1", ""})
    EXPECT_EQ(retry_at(x), 2u) << x;
}

TEST_F(http_streams, a_connection_is_kept_if_the_rest_is_not_needed) {
  serve([](http_peer& client, const auto&) {
    client.begin_events();
    client.send_chunk("data: 1\n\n");
    client.send_last_chunk("data: 2\n\n");
  });
  const auto read_one = [](http_stream& x) -> task<std::string> {
    for (int i = 0; i < 3; ++i) {
      co_await x.post("/events", "{}");
      const auto event = co_await x.next_event();
      if (!event || event->data != "1")
        co_return "no event";
      x.finish();
      if (co_await x.next_event())
        co_return "an event behind the end";
    }
    co_return "done";
  };
  EXPECT_EQ(run(read_one), "done");
  // A request may begin before the rest of the answer before it has arrived.
  EXPECT_LE(server->connections(), 3u);
}

TEST_F(http_streams, fields_that_could_smuggle_others_are_refused) {
  serve(answering("200 OK"));
  const auto send = [](http_stream& x) -> task<std::string> {
    http_request request{"GET", "/"};
    request.headers.emplace_back("X-A", "a\r\nX-B: b");
    co_await x.open(std::move(request));
    co_return "sent";
  };
  EXPECT_TRUE(run(send).starts_with("invalid_argument: "));
  EXPECT_TRUE(run([](http_stream& x) {
                return read_all(x, "/ HTTP/1.1\r\nX-B: b");
              }).starts_with("invalid_argument: "));
  EXPECT_TRUE(server->requests().empty());
}

} // namespace tertulia::test::http_stream_tests
