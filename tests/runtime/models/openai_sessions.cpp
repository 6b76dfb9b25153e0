// SPDX-License-Identifier: BSD-3-Clause

// Content of a session after the server of its model fails in a turn.

#include <tertulia/ai/prompt_agent.hpp>
#include <tertulia/sqlite_store.hpp>

#include <atomic>
#include <ostream>

#include "support/openai_client.hpp"
#include "support/scratch.hpp"
#include "support/scripted_model.hpp"

using namespace std::literals;

namespace tertulia::test::openai_sessions_tests {

namespace {

/// Failure of a server, and the error code that a client receives.
struct bad_answer {
  const char* name;
  errc code;
  void (*send)(http_peer&);

  friend void PrintTo(const bad_answer& x, std::ostream* to) {
    *to << x.name;
  }
};

struct openai_sessions : openai_client,
                         ::testing::WithParamInterface<bad_answer> {
  openai_sessions() {
    options.max_retries = 0;
    options.max_answer_size = 100'000;
  }

  /// Defines an agent in a new runtime. Its sessions are stored in a file.
  auto define_chat() {
    rt.reset();
    EXPECT_TRUE(nothing_is_left()); // of the runtime before, which had the file
    restart({});
    return ai::define_prompt_agent(
      *rt, "chat", ai::prompt{define()},
      with_snapshot_store(spawn_sqlite_store(system, folder / "chat.db")));
  }

  void TearDown() override {
    rt.reset(); // it holds a store
    openai_client::TearDown();
  }

  scratch folder;
  std::atomic<bool> fails = false;
  const with_session_id id{"s"};
};

} // namespace

TEST_P(openai_sessions, earlier_turns_stay_stored) {
  serve([this](http_peer& client, const auto&) {
    if (!fails)
      return say_hello(client);
    GetParam().send(client);
    client.close();
  });
  {
    auto talk = define_chat().stream_bidi(id);
    talk.send_text("Hi");
    talk.close();
    talk.output(patience);
  }
  fails = true;
  if (GetParam().code == errc::deadline_exceeded)
    options.first_byte_within = 20ms;
  {
    const auto chat = define_chat();
    const auto before = system.registry().running();
    auto talk = chat.stream_bidi(id);
    talk.send_text("And now?");
    EXPECT_EQ(code_from([&] { talk.output(patience); }), GetParam().code);
    EXPECT_TRUE(
      eventually([&] { return system.registry().running() == before; }));
  }
  auto again = define_chat().stream_bidi(id);
  again.close();
  EXPECT_EQ(lines_of(again.output(patience).state.messages),
            (lines{"user: Hi", "model: Hello"}));
  EXPECT_TRUE(eventually([&] { return server->requests().size() == 2; }));
}

INSTANTIATE_TEST_SUITE_P(
  a_server, openai_sessions,
  ::testing::Values(
    bad_answer{"cuts_the_stream_off", errc::unavailable,
               [](http_peer& client) {
                 client.begin_events();
                 client.send_chunk(sse_text("Hel"));
               }},
    bad_answer{"sends_bad_json", errc::data_loss,
               [](http_peer& client) {
                 client.begin_events();
                 client.send_chunk(sse_event(R"({"choices":[{"delta":)"));
                 client.wait_until_closed();
               }},
    bad_answer{"does_not_know_the_key", errc::unauthenticated,
               [](http_peer& client) {
                 client.answer("401 Unauthorized", "");
               }},
    bad_answer{"never_answers", errc::deadline_exceeded,
               [](http_peer& client) { client.wait_until_closed(); }},
    bad_answer{"never_stops", errc::resource_exhausted,
               [](http_peer& client) {
                 client.begin_events();
                 while (client.send_chunk(sse_text("again "))) {
                 }
               }}),
  ::testing::PrintToStringParamName{});

} // namespace tertulia::test::openai_sessions_tests
