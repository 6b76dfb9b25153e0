// SPDX-License-Identifier: BSD-3-Clause

// Spans on their way to a collector.

#include <tertulia/config.hpp>
#include <tertulia/otlp_exporter.hpp>

#include <cstdlib>
#include <limits>
#include <optional>

#include "support/http_server.hpp"
#include "support/refusal.hpp"
#include "support/valve.hpp"
#include <gtest/gtest.h>

using namespace std::literals;

namespace tertulia::test::otlp_exporter_tests {

namespace {

struct otlp : ::testing::Test {
  /// Starts to send spans to a collector.
  void begin(http_server::handler answer, otlp_options options = {}) {
    collector.emplace(std::move(answer));
    options.collector.base_url
      = "http://127.0.0.1:" + std::to_string(collector->port());
    options.collector.first_retry_after = 1ms;
    options.interval = 1ms;
    exporter.emplace(rt, std::move(options));
  }

  void flush() {
    EXPECT_TRUE(exporter->flush(30s));
  }

  /// Returns all spans that the collector got.
  [[nodiscard]] std::vector<json> spans() const {
    std::vector<json> result;
    for (const auto& x : collector->requests()) {
      const auto text = x.substr(x.find("\r\n\r\n") + 4);
      const auto whole = json::parse(text);
      for (const auto& span :
           whole["resourceSpans"][0]["scopeSpans"][0]["spans"])
        result.push_back(span);
    }
    return result;
  }

  config cfg;
  caf::actor_system system{cfg};
  runtime rt{system};
  std::optional<http_server> collector;
  std::optional<otlp_exporter> exporter;
};

/// Returns the value of an attribute.
json attribute_of(const json& x, const std::string& key) {
  for (const auto& one : x["attributes"])
    if (one["key"] == key)
      return one["value"];
  return nullptr;
}

} // namespace

TEST_F(otlp, sends_a_span_as_collectors_read_it) {
  begin(answering("200 OK", "{}"));
  span_context parent{trace_id::random(), span_id::random()};
  {
    auto x = rt.traces().start("/model/star", &parent);
    x.set_attribute("count", 3);
    x.set_attribute("share", 0.5);
    x.set_attribute("none", std::numeric_limits<double>::quiet_NaN());
    x.set_attribute("done", true);
    x.set_attribute("reasons", std::vector<std::string>{"stop", "length"});
    x.set_attribute("text", "ol\xc3"); // is cut within a character
    x.add_event("retry", {{"after", 2}});
    x.set_error(errc::unavailable, "no line");
  }
  flush();
  const auto all = spans();
  ASSERT_EQ(all.size(), 1u);
  const auto& x = all.front();
  EXPECT_EQ(x["traceId"], to_string(parent.trace));
  EXPECT_EQ(x["parentSpanId"], to_string(parent.span));
  EXPECT_EQ(x["spanId"].get<std::string>().size(), 16u);
  EXPECT_EQ(x["name"], "/model/star");
  EXPECT_EQ(x["kind"], 3);
  EXPECT_GE(std::stoull(x["endTimeUnixNano"].get<std::string>()),
            std::stoull(x["startTimeUnixNano"].get<std::string>()));
  EXPECT_EQ(attribute_of(x, "count"), json({{"intValue", "3"}}));
  EXPECT_EQ(attribute_of(x, "share"), json({{"doubleValue", 0.5}}));
  EXPECT_EQ(attribute_of(x, "none"), json({{"doubleValue", "NaN"}}));
  EXPECT_EQ(attribute_of(x, "done"), json({{"boolValue", true}}));
  EXPECT_EQ(attribute_of(x, "reasons")["arrayValue"]["values"][1],
            json({{"stringValue", "length"}}));
  EXPECT_EQ(attribute_of(x, "text"), json({{"stringValue", "ol\uFFFD"}}));
  EXPECT_EQ(x["events"][0]["name"], "retry");
  EXPECT_EQ(attribute_of(x["events"][0], "after"), json({{"intValue", "2"}}));
  EXPECT_EQ(x["status"], json({{"code", 2}, {"message", "no line"}}));
  EXPECT_TRUE(has(collector->requests()[0], "POST /v1/traces ",
                  "application/json", R"("service.name")"));
  EXPECT_EQ(exporter->count().sent, 1u);
}

TEST_F(otlp, sends_the_spans_of_flows_and_none_of_its_own) {
  begin(answering("200 OK"));
  const auto flow = rt.define_bidi_flow(
    "echo", [](context, input<int> in, output<int>) -> task<int> {
      co_return (co_await in.next()).value_or(0);
    });
  for (int i = 0; i < 3; ++i) {
    auto call = flow.stream_bidi();
    call.send(i);
    call.close();
    EXPECT_EQ(call.output(), i);
  }
  flush();
  const auto all = spans();
  ASSERT_EQ(all.size(), 3u);
  for (const auto& x : all)
    EXPECT_EQ(x["name"], "/bidi-flow/echo");
}

TEST_F(otlp, leaves_out_what_is_not_sampled) {
  begin(answering("200 OK"));
  span_context parent{trace_id::random(), span_id::random()};
  parent.sampled = false;
  rt.traces().start("unwanted", &parent).end();
  rt.traces().start("wanted").end();
  flush();
  ASSERT_EQ(spans().size(), 1u);
  EXPECT_EQ(spans().front()["name"], "wanted");
}

TEST_F(otlp, asks_again_when_the_collector_is_busy) {
  std::atomic<int> asked = 0;
  begin([&](http_server::peer& client, const std::string&) {
    client.answer(++asked < 3 ? "503 Service Unavailable" : "200 OK", "");
  });
  rt.traces().start("one").end();
  flush();
  EXPECT_EQ(asked, 3);
  EXPECT_EQ(exporter->count().sent, 1u);
  EXPECT_EQ(exporter->count().lost, 0u);
  EXPECT_EQ(exporter->last_failure(), "");
}

TEST_F(otlp, counts_what_the_collector_refuses) {
  std::atomic<int> asked = 0;
  begin([&](http_server::peer& client, const std::string&) {
    if (++asked == 1)
      client.answer("400 Bad Request", "no");
    else
      client.answer("200 OK", R"({"partialSuccess":{"rejectedSpans":"1",)"
                              R"("errorMessage":"too old"}})");
  });
  rt.traces().start("one").end();
  flush();
  EXPECT_EQ(exporter->count().lost, 1u);
  EXPECT_TRUE(has(exporter->last_failure(), "400"));
  rt.traces().start("two").end();
  flush();
  EXPECT_EQ(exporter->count().lost, 2u);
  EXPECT_EQ(exporter->last_failure(), "too old");
}

TEST_F(otlp, drops_spans_beyond_its_queue) {
  valve gate;
  otlp_options options;
  options.max_queue = 4;
  options.max_batch = 2;
  begin(
    [&](http_server::peer& client, const std::string&) {
      gate.wait();
      client.answer("200 OK", "");
    },
    options);
  for (int i = 0; i < 20; ++i)
    rt.traces().start("one of many").end();
  gate.open();
  flush();
  const auto count = exporter->count();
  EXPECT_EQ(count.sent + count.dropped, 20u);
  EXPECT_GE(count.dropped, 14u) << "four wait, and two are under way";
  EXPECT_EQ(spans().size(), count.sent);
  collector.reset();
}

TEST_F(otlp, sends_what_waits_before_it_ends) {
  otlp_options options;
  options.max_batch = 3;
  begin(answering("200 OK"), options);
  for (int i = 0; i < 20; ++i)
    rt.traces().start("the last").end();
  exporter.reset();
  EXPECT_EQ(spans().size(), 20u);
}

TEST_F(otlp, ends_in_time_without_a_collector) {
  valve gate;
  otlp_options options;
  options.flush_within = 10ms;
  begin([&](http_server::peer&, const std::string&) { gate.wait(); }, options);
  rt.traces().start("never sent").end();
  EXPECT_FALSE(exporter->flush(10ms));
  exporter.reset();
  gate.open();
  collector.reset();
}

TEST_F(otlp, reads_the_environment) {
  ::setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector:4318", 1);
  ::setenv("OTEL_EXPORTER_OTLP_HEADERS", "Authorization=Basic%20QQ==, x=1", 1);
  ::setenv("OTEL_SERVICE_NAME", "concierge", 1);
  ::setenv("OTEL_RESOURCE_ATTRIBUTES", "service.version=2,service.name=other",
           1);
  const auto x = otlp_options::from_environment();
  EXPECT_EQ(x.collector.base_url, "http://collector:4318");
  EXPECT_EQ(x.collector.headers,
            (http_fields{{"Authorization", "Basic QQ=="}, {"x", "1"}}));
  EXPECT_EQ(x.service_name, "concierge");
  EXPECT_EQ(x.resource, (std::vector<attribute>{{"service.version", "2"}}));
  ::unsetenv("OTEL_SERVICE_NAME");
  EXPECT_EQ(otlp_options::from_environment().service_name, "other");
  for (const auto* text : {"secret", "=secret", "a=b%2"}) {
    ::setenv("OTEL_EXPORTER_OTLP_HEADERS", text, 1);
    const auto problem
      = error_of([] { return otlp_options::from_environment(); });
    EXPECT_EQ(problem.code(), errc::invalid_argument);
    EXPECT_FALSE(has(problem.message(), "secret"));
  }
  ::unsetenv("OTEL_EXPORTER_OTLP_HEADERS");
  EXPECT_EQ(x.path, "/v1/traces");
  ::setenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://other:1/a/b", 1);
  const auto y = otlp_options::from_environment();
  EXPECT_EQ(y.collector.base_url, "http://other:1");
  EXPECT_EQ(y.path, "/a/b") << "it is the whole address";
  EXPECT_TRUE(otlp_options::are_in_environment());
  ::setenv("OTEL_SDK_DISABLED", "true", 1);
  EXPECT_FALSE(otlp_options::are_in_environment());
  ::setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc", 1);
  EXPECT_EQ(code_from([] { return otlp_options::from_environment(); }),
            errc::invalid_argument);
  for (const auto* name :
       {"OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
        "OTEL_EXPORTER_OTLP_PROTOCOL", "OTEL_SDK_DISABLED", "OTEL_SERVICE_NAME",
        "OTEL_RESOURCE_ATTRIBUTES"})
    ::unsetenv(name);
  EXPECT_FALSE(otlp_options::are_in_environment());
}

TEST_F(otlp, refuses_options_that_make_no_sense) {
  const auto code_with = [&](auto change) {
    otlp_options x;
    change(x);
    return code_from([&] { return std::make_unique<otlp_exporter>(rt, x); });
  };
  EXPECT_EQ(code_with([](auto& x) { x.max_queue = 0; }),
            errc::invalid_argument);
  EXPECT_EQ(code_with([](auto& x) { x.max_batch = 0; }),
            errc::invalid_argument);
  EXPECT_EQ(code_with([](auto& x) { x.interval = 0s; }),
            errc::invalid_argument);
  EXPECT_EQ(code_with([](auto& x) { x.collector.base_url = "here"; }),
            errc::invalid_argument);
}

} // namespace tertulia::test::otlp_exporter_tests
