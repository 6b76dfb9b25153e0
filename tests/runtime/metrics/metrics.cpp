// SPDX-License-Identifier: BSD-3-Clause

// What Prometheus reads of a runtime.

#include <tertulia/activity.hpp>
#include <tertulia/define_agent.hpp>
#include <tertulia/memory_store.hpp>
#include <tertulia/metrics.hpp>
#include <tertulia/span_recorder.hpp>
#include <tertulia/sqlite_store.hpp>

#include "support/conversations.hpp"
#include "support/has.hpp"
#include "support/scratch.hpp"
#include "support/web_fixture.hpp"
#include <prometheus/gauge.h>
#include <prometheus/registry.h>

namespace tertulia::test::metrics_tests {

namespace {

struct numbers : web {
  web_client serve_numbers(http_server_options options = {}) {
    options.metrics = all.reader();
    return serve(std::move(options));
  }

  tertulia::metrics all{rt};
};

const std::string token = "Authorization: Bearer 0123456789abcdef\r\n";

} // namespace

TEST_F(numbers, count_runs_of_actions) {
  auto at = serve_numbers();
  define_sleeper();
  EXPECT_EQ(at.call("POST", "/actions" + counter, R"({"inputs":[2]})").status,
            200u);
  rt.define_bidi_flow("failing",
                      [](context, input<int> in, output<int>) -> task<int> {
                        const auto x = co_await in.next();
                        throw status_error{errc::out_of_range, "too far"};
                        co_return x.value_or(0);
                      });
  EXPECT_EQ(at.call("POST", "/actions/bidi-flow/failing").status, 400u);
  auto open = client();
  open.ask("POST", "/actions" + sleeper, "{}");
  EXPECT_TRUE(eventually([] { return witness::alive() == 1; }));
  std::string text;
  EXPECT_TRUE(eventually([&] { // the span may end behind the answer
    text = at.call("GET", "/metrics").body;
    return has(text, "{action=\"/bidi-flow/counter\",status=\"ok\"} 1",
               "{action=\"/bidi-flow/failing\",status=\"out_of_range\"} 1");
  }));
  EXPECT_TRUE(has(
    text,
    "\ntertulia_runs_total{action=\"/bidi-flow/counter\",status=\"ok\"} 1",
    "\ntertulia_runs_open{action=\"/bidi-flow/counter\"} 0",
    "\ntertulia_runs_open{action=\"/bidi-flow/sleeper\"} 1",
    "\ntertulia_run_duration_seconds_count{action=\"/bidi-flow/counter\"} 1",
    "# TYPE tertulia_run_duration_seconds histogram"));
}

TEST_F(numbers, count_requests_by_route) {
  auto at = serve_numbers();
  at.call("GET", "/actions");
  at.call("GET", "/actions/bidi-flow/a-name-that-a-client-chooses");
  at.call("GET", "/nowhere/a-name-that-a-client-chooses");
  at.call("GET", "/healthz");
  const auto result = at.call("GET", "/metrics");
  EXPECT_EQ(result.field("Content-Type"), "text/plain; version=0.0.4");
  EXPECT_TRUE(has(result.body,
                  "\ntertulia_http_requests_total{code=\"200\","
                  "method=\"GET\",route=\"/actions\"} 1",
                  "\ntertulia_http_requests_total{code=\"404\","
                  "method=\"GET\",route=\"/actions/{key}\"} 1"));
  EXPECT_FALSE(has(result.body, "a-name-that"));
  EXPECT_FALSE(has(result.body, "healthz"));
}

TEST_F(numbers, count_requests_that_are_refused) {
  auto at = serve_numbers({.tokens = {{"ana", "0123456789abcdef"}}});
  at.call("GET", "/actions");
  at.call("DELETE", "/actions", "", token);
  at.call("BREW", "/nowhere", "", token);
  auto odd = client();
  odd.send("odd\r\n\r\n");
  EXPECT_EQ(odd.read().status, 400u);
  const auto text = at.call("GET", "/metrics", "", token).body;
  const std::string count = "\ntertulia_http_requests_total{code=\"";
  EXPECT_TRUE(has(text, count + "401\",method=\"GET\",route=\"none\"} 1",
                  count + "405\",method=\"DELETE\",route=\"none\"} 1",
                  count + "404\",method=\"_OTHER\",route=\"none\"} 1",
                  count + "400\",method=\"_OTHER\",route=\"none\"} 1"));
}

TEST_F(numbers, count_what_connections_and_stores_do) {
  const auto store = spawn_memory_store(system);
  define_agent(rt, "notes", take_notes, with_snapshot_store(store),
               with_snapshot_callback(snapshot_always{}));
  auto at = serve_numbers();
  EXPECT_EQ(
    at.call("POST", "/actions/agent/notes", R"({"inputs":["a","b"]})").status,
    200u);
  // A window of one chunk: the body waits for each further one.
  EXPECT_EQ(at.call("POST", "/actions" + counter,
                    R"({"inputs":[9],"chunkWindow":1})")
              .status,
            200u);
  std::string text;
  const std::string label = "{action=\"/agent/notes\"";
  EXPECT_TRUE(eventually([&] { // the connection ends behind the answer
    text = all.text();
    return has(text, "connections_open" + label + "} 0");
  }));
  EXPECT_TRUE(
    has(text, "\ntertulia_connections_total" + label + "} 1",
        "\ntertulia_snapshots_total" + label + ",event=\"turn_end\"} 2",
        "\ntertulia_store_failures_total" + label + "} 0",
        "\ntertulia_store_duration_seconds_count" + label
          + ",operation=\"open\"} 1",
        "\ntertulia_store_duration_seconds_bucket" + label
          + ",operation=\"open\",le=\"+Inf\"} 1",
        "\ntertulia_connections_total{action=\"/bidi-flow/counter\"} 1"));
  const auto waits = [&] {
    std::uint64_t result = 0;
    for (const auto& x : rt.activity())
      if (x.key == counter)
        result = x.credit_waits;
    return result;
  };
  EXPECT_GE(waits(), 8u);
}

TEST_F(numbers, tell_of_the_actors_that_many_share) {
  const scratch folder;
  const auto store = spawn_sqlite_store(system, folder / "sessions.db");
  for (const auto* name : {"notes", "more"})
    define_agent(rt, name, take_notes, with_snapshot_store(store));
  auto at = serve_numbers();
  EXPECT_TRUE(has(all.text(), "\ntertulia_store_commits_total 0"));
  EXPECT_EQ(
    at.call("POST", "/actions/agent/notes", R"({"inputs":["a"]})").status,
    200u);
  std::string text;
  EXPECT_TRUE(eventually([&] { // the lease is released behind the answer
    text = all.text();
    return has(text, "\ntertulia_mailbox_messages{actor=\"front_desk\"} 0",
               "\ntertulia_mailbox_messages{actor=\"store\"} 0");
  }))
    << text;
  EXPECT_FALSE(has(text, "\ntertulia_store_commits_total 0"));
}

TEST_F(numbers, count_saves_that_fail) {
  const auto store = spawn_memory_store(system);
  define_agent(rt, "notes", take_notes, with_snapshot_store(store));
  auto at = serve_numbers();
  const auto opened
    = at.call("POST", "/runs/agent/notes", R"({"session":"s"})").document();
  caf::anon_send_exit(caf::actor_cast<caf::actor>(store),
                      caf::exit_reason::kill);
  at.call("POST", "/inputs/agent/notes?run=" + opened["run"].get<std::string>(),
          R"({"inputs":["a"]})");
  EXPECT_TRUE(eventually([&] {
    return has(all.text(), "store_failures_total{action=\"/agent/notes\"} 1");
  }));
}

TEST_F(numbers, do_not_blame_the_server_for_a_client_that_leaves) {
  auto at = serve_numbers();
  {
    auto other = client();
    begin_to_sleep(other);
    other.close();
  }
  EXPECT_TRUE(eventually([&] {
    return has(at.call("GET", "/metrics").body,
               "requests_total{code=\"499\",method=\"POST\","
               "route=\"/actions/{key}\"} 1");
  }));
}

TEST_F(numbers, count_tokens_of_models) {
  {
    auto x = rt.traces().start("/model/star");
    x.set_attribute("gen_ai.usage.input_tokens", 7);
    x.set_attribute("gen_ai.usage.output_tokens", 5);
    x.set_error(errc::unavailable, "no line");
  }
  EXPECT_TRUE(has(all.text(),
                  "tokens_total{action=\"/model/star\",type=\"input\"} 7",
                  "tokens_total{action=\"/model/star\",type=\"output\"} 5",
                  "{action=\"/model/star\",status=\"unavailable\"} 1"));
}

TEST_F(numbers, measure_turns_of_session_flows) {
  {
    const auto run = rt.traces().start("/session-flow/guide");
    rt.traces().start("sessionFlow/turn", run.context()).end();
    auto failed = rt.traces().start("sessionFlow/turn", run.context());
    failed.set_error(errc::unavailable, "no line");
  }
  rt.traces().start("a step of an author").end();
  const std::string count = "tertulia_turn_duration_seconds_count";
  const std::string guide = "{action=\"/session-flow/guide\",status=\"";
  EXPECT_TRUE(has(all.text(), count + guide + "ok\"} 1",
                  count + guide + "unavailable\"} 1"));
  EXPECT_FALSE(has(all.text(), "author"));
}

TEST_F(numbers, have_a_bounded_number_of_labels) {
  for (int i = 0; i < 1'200; ++i)
    rt.traces().start("/tool/" + std::to_string(i)).end();
  const auto text = all.text();
  EXPECT_TRUE(has(text, "runs_total{action=\"other\",status=\"ok\"} 200"));
  EXPECT_FALSE(has(text, "/tool/1100"));
}

TEST_F(numbers, of_an_application_are_beside_them) {
  prometheus::BuildGauge()
    .Name("guests")
    .Register(all.registry())
    .Add({})
    .Set(3);
  EXPECT_TRUE(has(all.text(), "\nguests 3"));
}

TEST_F(numbers, are_for_callers_only) {
  auto at = serve_numbers({.tokens = {{"ana", "0123456789abcdef"}}});
  EXPECT_EQ(at.call("GET", "/metrics").status, 401u);
  EXPECT_EQ(at.call("GET", "/metrics", "", token).status, 200u);
  EXPECT_EQ(serve().call("GET", "/metrics").status, 404u);
}

TEST_F(numbers, come_from_spans_that_have_the_request_as_their_cause) {
  const auto recorder = std::make_shared<span_recorder>();
  const auto listening = rt.traces().listen(recorder);
  const span_context outside{trace_id::random(), span_id::random()};
  serve().call("POST", "/actions" + counter, R"({"inputs":[2]})",
               "traceparent: " + outside.to_traceparent()
                 + "\r\ntracestate: a=b\r\ntracestate: c=d\r\n");
  std::shared_ptr<const span_data> request;
  std::shared_ptr<const span_data> run;
  EXPECT_TRUE(eventually([&] {
    for (const auto& x : recorder->spans())
      (x->name == counter ? run : request) = x;
    return request && run;
  }));
  EXPECT_EQ(request->name, "POST /actions/{key}");
  EXPECT_EQ(request->parent, outside.span);
  EXPECT_EQ(request->context.trace, outside.trace);
  EXPECT_EQ(run->parent, request->context.span);
  EXPECT_EQ(run->context.state, "a=b,c=d");
}

} // namespace tertulia::test::metrics_tests
