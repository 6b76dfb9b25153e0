// SPDX-License-Identifier: BSD-3-Clause

// Servers that try to harm their client.

#include <cstdio>
#include <string>
#include <string_view>

#include "support/openai_client.hpp"

using namespace std::literals;

namespace tertulia::test::openai_hostile_tests {

namespace {

/// More than the system buffers for a client that does not read.
constexpr std::size_t too_much = 64 * 1'048'576;

struct openai_hostile : openai_client {
  /// Calls a model whose server begins an answer and repeats `piece` until the
  /// client hangs up.
  /// @returns the outcome of the call, which must end long before everything is
  ///          sent.
  openai_outcome flooded(std::string_view begin, std::string_view piece) {
    std::string flood;
    while (flood.size() < 65'536)
      flood += piece;
    std::size_t sent = 0;
    gate done;
    auto result = ask([&](http_peer& client, const auto&) {
      client.send(begin);
      while (sent < too_much && client.send(flood))
        sent += flood.size();
      client.close();
      done.open();
    });
    done.wait();
    EXPECT_LT(sent, too_much);
    return result;
  }

  /// Calls a model whose server answers with these bytes and hangs up.
  openai_outcome told(std::string bytes) {
    // A copy: the client may have gone away when the server still writes.
    return ask([bytes = std::move(bytes)](http_peer& client, const auto&) {
      client.send(bytes);
      client.close();
    });
  }
};

const std::string events{http_peer::events_head};

std::string chunk(std::string_view bytes, std::string_view extension = {}) {
  char size[24];
  std::snprintf(size, sizeof size, "%08zx", bytes.size());
  return size + std::string{extension} + "\r\n" + std::string{bytes} + "\r\n";
}

std::string with_head(std::string_view fields, std::string_view body) {
  return "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
         + std::string{fields} + "\r\n" + std::string{body};
}

} // namespace

// -- endless data -------------------------------------------------------------

TEST_F(openai_hostile, a_chunk_extension_that_never_ends_is_left) {
  EXPECT_EQ(flooded(events + "5;", "and so on ").code(),
            errc::resource_exhausted);
}

TEST_F(openai_hostile, nothing_else_that_never_ends_is_read_on) {
  struct flood {
    std::string begin;
    const char* piece;
    errc code;
  };
  options.max_answer_size = 1'048'576; // so that it is soon reached
  for (const auto& [begin, piece, code] : {
         // the size of a chunk, which is not a number
         flood{events, "0", errc::data_loss},
         // trailers, and a trailer
         flood{events + "0\r\n", "X-Again: again\r\n",
               errc::resource_exhausted},
         flood{events + "0\r\nX-Again: ", "again ", errc::resource_exhausted},
         // the reason behind the status, a field, and interim answers
         flood{"HTTP/1.1 200 ", "because ", errc::resource_exhausted},
         flood{"HTTP/1.1 200 OK\r\nX-Again: ", "again ",
               errc::resource_exhausted},
         flood{"", "HTTP/1.1 100 Continue\r\n\r\n", errc::resource_exhausted},
         // the frame of an error
         flood{"HTTP/1.1 400 Bad\r\nTransfer-Encoding: chunked\r\n\r\n5;",
               "and so on ", errc::invalid_argument},
         // what is behind an answer that is complete
         flood{events + chunk(sse_end) + "5;", "and so on", errc::ok},
         // a chunk that says that it is too long
         flood{events + "e8d4a51000\r\n", ": x\n", errc::resource_exhausted},
       })
    EXPECT_EQ(flooded(begin, piece).code(), code) << begin << piece;
}

// -- sizes --------------------------------------------------------------------

TEST_F(openai_hostile, an_answer_that_says_that_it_is_too_long_is_not_read) {
  EXPECT_EQ(told(with_head("Content-Length: 1000000000000\r\n", "")).code(),
            errc::resource_exhausted);
}

TEST_F(openai_hostile, a_size_that_is_not_a_number_is_data_loss) {
  for (const auto* size : {"-1", "5 5", "0x5", "99999999999999999999", ""})
    EXPECT_EQ(told(with_head("Content-Length: "s + size + "\r\n", "")).code(),
              errc::data_loss)
      << size;
  for (const auto* size : {"-1", "g", "fffffffffffffffff", ""})
    EXPECT_EQ(told(events + size + "\r\n").code(), errc::data_loss) << size;
}

TEST_F(openai_hostile, two_sizes_are_data_loss) {
  for (const auto* fields :
       {"Content-Length: 5\r\nContent-Length: 6\r\n",
        "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n"})
    EXPECT_EQ(told(with_head(fields, "5\r\n: hi\n\r\n0\r\n\r\n")).code(),
              errc::data_loss)
      << fields;
}

TEST_F(openai_hostile,
       extensions_and_trailers_of_a_usual_size_are_passed_over) {
  const auto got = ask([](http_peer& client, const auto&) {
    client.send(events + chunk(sse_text("Hello") + sse_end, ";name=\"value\"")
                + "0;last\r\nX-Cost: 1\r\n\r\n");
  });
  EXPECT_EQ(got.value().text(), "Hello");
}

// -- interim answers ----------------------------------------------------------

TEST_F(openai_hostile, an_interim_answer_is_not_the_answer) {
  const auto got = ask([](http_peer& client, const auto&) {
    client.send("HTTP/1.1 100 Continue\r\n\r\n");
    client.send("HTTP/1.1 103 Early Hints\r\nContent-Type: text/html\r\n"
                "Content-Length: 7\r\n\r\n");
    say_hello(client);
  });
  EXPECT_EQ(got.value().text(), "Hello");
}

TEST_F(openai_hostile, what_is_cut_behind_an_interim_answer_is_not_sent_again) {
  EXPECT_EQ(told("HTTP/1.1 100 Continue\r\n\r\n").code(), errc::unavailable);
  EXPECT_EQ(server->requests().size(), 1u) << "the server has begun";
}

// -- encodings ----------------------------------------------------------------

TEST_F(openai_hostile, an_answer_that_is_encoded_is_refused_by_name) {
  for (const auto* field :
       {"Content-Encoding: gzip\r\n", "Transfer-Encoding: gzip, chunked\r\n"}) {
    const auto got = told(with_head(field, "\x1F\x8B\b"));
    EXPECT_EQ(got.code(), errc::data_loss) << field;
    EXPECT_TRUE(has(got.error->message(), "gzip"));
    EXPECT_TRUE(has(server->requests().at(0), "\r\nAccept-Encoding: identity"))
      << "it was not asked for";
  }
}

TEST_F(openai_hostile, an_error_that_is_encoded_has_its_status) {
  EXPECT_EQ(
    ask(answering("401 No", "\x1F\x8B\b", "Content-Encoding: gzip\r\n")).code(),
    errc::unauthenticated);
}

TEST_F(openai_hostile, an_answer_that_says_that_it_is_as_it_is_is_read) {
  const auto got = ask(answering("200 OK", sse_text("Hello") + sse_end,
                                 "Content-Type: text/event-stream\r\n"
                                 "Content-Encoding: Identity\r\n"));
  EXPECT_EQ(got.value().text(), "Hello");
}

// -- retries ------------------------------------------------------------------

TEST_F(openai_hostile, a_date_that_never_comes_is_not_waited_for) {
  for (const auto* date :
       {"Fri, 31 Dec 9999 23:59:59 GMT", "Sat, 01 Jan 2300 00:00:00 GMT"}) {
    const auto retry = "Retry-After: "s + date + "\r\n";
    EXPECT_EQ(ask(answering("429 Slow down", {}, retry)).code(),
              errc::resource_exhausted)
      << date;
    EXPECT_EQ(server->requests().size(), 1u) << date;
  }
}

} // namespace tertulia::test::openai_hostile_tests
