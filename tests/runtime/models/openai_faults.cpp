// SPDX-License-Identifier: BSD-3-Clause

#include "support/openai_client.hpp"

using namespace std::literals;

namespace tertulia::test::openai_faults_tests {

namespace {

struct openai_faults : openai_client {};

} // namespace

// -- times --------------------------------------------------------------------

TEST_F(openai_faults, a_server_that_never_answers_is_left_in_time) {
  options.first_byte_within = 20ms;
  const auto got
    = ask([](http_peer& client, const auto&) { client.wait_until_closed(); });
  EXPECT_EQ(error_text(got.error.value()),
            "deadline_exceeded: the server did not begin to answer in time");
  EXPECT_TRUE(eventually([&] { return server->requests().size() == 1; }))
    << "it may have done it";
}

TEST_F(openai_faults, a_server_that_stops_in_between_is_left_in_time) {
  options.next_bytes_within = 20ms;
  const auto got = ask(streaming_on(sse_text("Hel")));
  EXPECT_EQ(got.code(), errc::deadline_exceeded);
  EXPECT_EQ(got.pieces, std::vector{"Hel"s});
}

TEST_F(openai_faults, a_stream_that_never_ends_is_left_in_time) {
  options.total_within = 50ms;
  EXPECT_EQ(ask(streaming_on(":\n\n", ": still here\n\n")).code(),
            errc::deadline_exceeded);
}

// -- untrusted servers --------------------------------------------------------

TEST_F(openai_faults, a_stream_that_never_ends_is_left_at_its_limit) {
  options.max_answer_size = 100'000;
  const auto got = ask(streaming_on(sse_text("and "), sse_text("again ")));
  EXPECT_EQ(got.code(), errc::resource_exhausted);
  EXPECT_FALSE(got.pieces.empty());
}

TEST_F(openai_faults, a_line_that_never_ends_is_left_at_its_limit) {
  options.max_line_size = 10'000;
  EXPECT_EQ(ask(streaming_on("data: ", "and so on and on")).code(),
            errc::resource_exhausted);
}

TEST_F(openai_faults, a_header_that_never_ends_is_left_at_its_limit) {
  const auto got = ask([](http_peer& client, const auto&) {
    client.send("HTTP/1.1 200 OK\r\n");
    while (client.send("X-Again: and again\r\n")) {
    }
  });
  EXPECT_EQ(got.code(), errc::resource_exhausted);
}

TEST_F(openai_faults, an_error_that_never_ends_is_not_read_to_the_end) {
  options.max_error_size = 1'000;
  options.max_answer_size = 0x7FFF'FFFF;
  // More than the system buffers for a peer that does not read.
  constexpr std::size_t too_much = 64 * 1'048'576;
  std::size_t sent = 0;
  gate done;
  const auto got = ask([&](http_peer& client, const auto&) {
    client.send("HTTP/1.1 400 Bad\r\nTransfer-Encoding: chunked\r\n\r\n");
    const std::string piece(65'536, 'x');
    while (sent < too_much && client.send_chunk(piece))
      sent += piece.size();
    client.close();
    done.open();
  });
  EXPECT_EQ(got.code(), errc::invalid_argument);
  done.wait();
  EXPECT_LT(sent, too_much);
}

TEST_F(openai_faults, a_stream_that_is_cut_off_is_unavailable) {
  const auto got = ask([](http_peer& client, const auto&) {
    client.begin_events();
    client.send_chunk(sse_text("Hel"));
    client.close();
  });
  EXPECT_EQ(got.code(), errc::unavailable);
  EXPECT_EQ(got.pieces, std::vector{"Hel"s});
  EXPECT_EQ(server->requests().size(), 1u) << "some of it was heard";
}

TEST_F(openai_faults, a_stream_that_ends_too_early_is_unavailable) {
  EXPECT_EQ(ask(streaming(sse_text("Hel"))).code(), errc::unavailable);
}

TEST_F(openai_faults, what_is_no_json_is_data_loss) {
  const std::vector<http_server::handler> strangers{
    streaming_on(sse_event(R"({"choices":[{"delta":)")),
    answering("200 OK", "<p>Please sign in</p>", "Content-Type: text/html\r\n"),
    [](http_peer& client, const std::string&) {
      client.send("220 mail.example.org ESMTP\r\n\r\n");
      client.wait_until_closed();
    }};
  for (const auto& x : strangers)
    EXPECT_EQ(ask(x).code(), errc::data_loss) << &x - strangers.data();
}

TEST_F(openai_faults, an_error_within_the_stream_is_told_but_cut) {
  const auto got = ask([](http_peer& client, const auto&) {
    client.begin_events();
    client.send_chunk(sse_text("Hel"));
    client.send_last_chunk(sse_event(
      json{{"error", {{"message", "full" + std::string(9'999, '!')}}}}.dump()));
  });
  EXPECT_EQ(got.code(), errc::unavailable);
  EXPECT_TRUE(got.error->message().starts_with("the server says: full!!!"));
  EXPECT_LT(got.error->message().size(), 1'000u);
}

// -- errors and retries -------------------------------------------------------

TEST_F(openai_faults, a_wrong_key_is_unauthenticated_and_not_repeated) {
  const auto got = ask(answering(
    "401 Unauthorized", R"({"error":{"message":"bad key sk-secret"}})"));
  EXPECT_EQ(got.code(), errc::unauthenticated);
  EXPECT_EQ(got.error->message(),
            "the server answers with status 401: bad key ***");
  EXPECT_EQ(got.error->details(), R"({"error":"bad key ***","status":401})");
  EXPECT_EQ(server->requests().size(), 1u);
}

TEST_F(openai_faults, a_word_that_stands_for_no_key_is_no_secret) {
  options.api_key = "1";
  const auto got
    = ask(answering("401 Unauthorized", R"({"error":"1 key is bad"})"));
  EXPECT_EQ(got.error->message(),
            "the server answers with status 401: 1 key is bad");
  EXPECT_EQ(got.error->details(), R"({"error":"1 key is bad","status":401})");
}

TEST_F(openai_faults, keys_in_further_fields_are_not_told_either) {
  options.headers = {{"X-Key", "other-secret"}};
  const auto got
    = ask(answering("403 Forbidden", R"({"error":"bad key other-secret"})"));
  EXPECT_EQ(got.code(), errc::permission_denied);
  EXPECT_EQ(got.error->message(),
            "the server answers with status 403: bad key ***");
}

TEST_F(openai_faults, who_is_too_fast_waits_as_long_as_the_server_says) {
  const auto got
    = ask(hello_after(1, answering("429 Slow down", "", "Retry-After: 1\r\n")));
  EXPECT_GE(got.value().latency_ms, 1'000);
  EXPECT_EQ(server->requests().size(), 2u);
}

TEST_F(openai_faults, who_would_wait_too_long_is_told_at_once) {
  EXPECT_EQ(ask(answering("429 Slow down", "", "Retry-After: 3600\r\n")).code(),
            errc::resource_exhausted);
  EXPECT_EQ(server->requests().size(), 1u);
}

TEST_F(openai_faults, a_server_that_fails_twice_is_asked_a_third_time) {
  EXPECT_EQ(ask(hello_after(2, answering("500 Oops"))).value().text(), "Hello");
  EXPECT_EQ(server->requests().size(), 3u);
}

TEST_F(openai_faults, a_server_that_always_fails_is_given_up) {
  options.max_retries = 2;
  EXPECT_EQ(ask(answering("503 Busy")).code(), errc::unavailable);
  EXPECT_EQ(server->requests().size(), 3u);
}

TEST_F(openai_faults, a_connection_that_is_closed_without_a_byte_is_retried) {
  const auto hang_up = [](http_peer& client, const auto&) { client.close(); };
  EXPECT_EQ(ask(hello_after(2, hang_up)).value().text(), "Hello");
  EXPECT_EQ(server->requests().size(), 3u);
}

TEST_F(openai_faults, a_server_that_is_not_there_is_unavailable) {
  options.max_retries = 1;
  serve([](http_peer&, const auto&) {});
  server.reset();
  EXPECT_EQ(hear(define()).code(), errc::unavailable);
}

} // namespace tertulia::test::openai_faults_tests
