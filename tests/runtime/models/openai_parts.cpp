// SPDX-License-Identifier: BSD-3-Clause

#include "runtime/models/openai/failure.hpp"
#include "runtime/models/openai/request_json.hpp"
#include "runtime/models/openai/response_assembly.hpp"
#include "runtime/models/openai/retry_policy.hpp"
#include "runtime/models/openai/sse_parser.hpp"
#include "runtime/models/openai/url.hpp"
#include "support/refusal.hpp"
#include <gtest/gtest.h>

using namespace std::literals;

namespace tertulia::test::openai_parts_tests {

namespace {

/// Returns the events in a text that arrives in these two pieces.
std::vector<std::string> sse_events_in(std::string_view first,
                                       std::string_view second) {
  openai::sse_parser parser{1'000};
  parser.feed(first);
  parser.feed(second);
  std::vector<std::string> result;
  while (auto x = parser.next())
    result.push_back(*x);
  return result;
}

json openai_body_of(const ai::generate_request& asked) {
  return json::parse(openai::request_text("m", asked));
}

ai::generate_request openai_asking(std::vector<ai::message> messages) {
  return ai::generate_request{ai::message_log{std::move(messages)}};
}

/// Returns the response that is assembled from these events.
ai::model_response openai_assembled(const std::vector<std::string>& events) {
  openai::response_assembly result;
  for (const auto& x : events)
    result.take(x);
  result.take_requests();
  return result.finish();
}

} // namespace

// -- URLs ---------------------------------------------------------------------

TEST(openai_url, its_parts_are_found) {
  const auto plain = openai::parse_url("http://LocalHost:8080/v1/");
  EXPECT_FALSE(plain.secure);
  EXPECT_EQ(plain.host, "localhost");
  EXPECT_EQ(plain.port, "8080");
  EXPECT_EQ(plain.path, "/v1");
  EXPECT_EQ(plain.authority(), "localhost:8080");
  const auto secure = openai::parse_url("https://u:p@example.org");
  EXPECT_TRUE(secure.secure);
  EXPECT_EQ(secure.user, "u:p");
  EXPECT_EQ(secure.authority(), "example.org");
  EXPECT_EQ(secure.endpoint(), "example.org:443");
  EXPECT_EQ(openai::parse_url("http://[::1]:80/x").authority(), "[::1]");
}

TEST(openai_url, what_is_no_url_is_refused_without_repeating_it) {
  for (const auto* x :
       {"", "example.org", "ftp://secret", "http://", "http://secret:0",
        "http://secret:99999", "http://secret:1x", "http://se cret",
        "http://secret\r\n", "http://[secret", "http://a/?secret"}) {
    const auto said = refusal([&] { openai::parse_url(x); });
    EXPECT_TRUE(said.starts_with("a URL ")) << x;
    EXPECT_EQ(said.find("secret"), std::string::npos) << x;
  }
}

TEST(openai_url, hosts_are_excepted_from_a_proxy_by_name_and_domain) {
  const auto is_excepted = [](const char* list, const std::string& host) {
    return openai::is_excepted(list, openai::parse_url("https://" + host));
  };
  EXPECT_TRUE(is_excepted("*", "example.org"));
  EXPECT_TRUE(is_excepted("a, Example.org", "example.ORG"));
  EXPECT_TRUE(is_excepted(".example.org", "api.example.org"));
  EXPECT_FALSE(is_excepted("example.org", "badexample.org"));
  EXPECT_FALSE(is_excepted("", "example.org"));
  EXPECT_FALSE(is_excepted(",,", "example.org"));
  EXPECT_TRUE(is_excepted("example.org:443", "api.example.org"));
  EXPECT_FALSE(is_excepted("example.org:443", "example.org:8443"));
  for (const auto* list : {"::1", "[::1]", "[::1]:443"})
    EXPECT_TRUE(is_excepted(list, "[::1]")) << list;
  EXPECT_FALSE(is_excepted("[::1]:8443", "[::1]"));
}

TEST(openai_url, a_proxy_needs_no_scheme_and_may_have_any_password) {
  const auto proxy = openai::parse_proxy("me:p%40ss%3a%2F@proxy:3128");
  EXPECT_FALSE(proxy.secure);
  EXPECT_EQ(proxy.endpoint(), "proxy:3128");
  EXPECT_EQ(proxy.user, "me:p@ss:/");
  EXPECT_EQ(openai::parse_proxy("http://proxy").endpoint(), "proxy:80");
  for (const auto* x : {"https://secret", "%secret@a", "%6@a", "%@a", ":"})
    EXPECT_EQ(refusal([&] { openai::parse_proxy(x); }).find("secret"),
              std::string::npos);
}

// -- events -------------------------------------------------------------------

TEST(openai_events, they_are_the_same_wherever_the_bytes_are_split) {
  const auto text = "\r\ndata: caf\xC3\xA9\r\n\r\n: comment\n\n"
                    "event: x\r\ndata:one\r\ndatabase: x\ndata: two\r\r"
                    "id: 7\n\n"
                    "data\n\ndata: [DONE]\n\ndata: no end"s;
  const std::vector expected{"caf\xC3\xA9"s, "one\ntwo"s, ""s, "[DONE]"s};
  for (std::size_t i = 0; i <= text.size(); ++i)
    EXPECT_EQ(sse_events_in(std::string_view{text}.substr(0, i),
                            std::string_view{text}.substr(i)),
              expected)
      << "split at " << i;
}

TEST(openai_events, a_line_and_an_event_have_their_limits) {
  openai::sse_parser line{10};
  line.feed("data: 7890");
  EXPECT_EQ(error_of([&] { line.feed("1"); }).code(), errc::resource_exhausted);
  openai::sse_parser event{10};
  event.feed("data: 123\ndata: 456\n");
  EXPECT_EQ(error_of([&] { event.feed("data:7890\n"); }).code(),
            errc::resource_exhausted);
}

// -- requests -----------------------------------------------------------------

TEST(openai_request, it_says_what_was_asked) {
  auto asked = openai_asking({ai::user_text("Rain?")});
  asked.system = "Be brief.";
  asked.config.temperature = 0.5;
  asked.config.max_output_tokens = 10;
  asked.config.stop_sequences = {"END"};
  asked.config.custom = json{{"seed", 7}};
  asked.output_schema = json{{"type", "object"}};
  EXPECT_EQ(openai_body_of(asked), json::parse(R"({
    "model":"m","stream":true,"stream_options":{"include_usage":true},
    "messages":[{"role":"system","content":"Be brief."},
                {"role":"user","content":"Rain?"}],
    "temperature":0.5,"max_tokens":10,"stop":["END"],"seed":7,
    "response_format":{"type":"json_schema","json_schema":
      {"name":"answer","schema":{"type":"object"}}}})"));
}

TEST(openai_request, tools_and_whether_to_use_them_are_told) {
  auto asked = openai_asking({ai::user_text("Rain?")});
  asked.tools.emplace_back("weather", "Looks out.", json{{"type", "object"}});
  asked.tools.emplace_back("clock");
  asked.tool_choice = ai::tool_choice::required;
  const auto body = openai_body_of(asked);
  EXPECT_EQ(body.at("tools"), json::parse(R"([
    {"type":"function","function":{"name":"weather",
      "description":"Looks out.","parameters":{"type":"object"}}},
    {"type":"function","function":{"name":"clock",
      "parameters":{"type":"object","properties":{}}}}])"));
  EXPECT_EQ(body.at("tool_choice"), "required");
}

TEST(openai_request, pictures_are_sent_by_their_url) {
  ai::message said;
  said.content = {ai::part::text("What is this?"),
                  ai::part::media("https://example.org/cat.png"),
                  ai::part::media("data:image/png;base64,AA==", "image/png")};
  EXPECT_EQ(openai_body_of(openai_asking({said})).at("messages"),
            json::parse(R"([
    {"role":"user","content":[{"type":"text","text":"What is this?"},
      {"type":"image_url","image_url":{"url":"https://example.org/cat.png"}},
      {"type":"image_url","image_url":{"url":"data:image/png;base64,AA=="}}
    ]}])"));
  said.content = {ai::part::media("https://example.org/a.mp3", "audio/mpeg")};
  EXPECT_EQ(refusal([&] { (void)openai_body_of(openai_asking({said})); }),
            "this model takes pictures, not audio/mpeg");
}

TEST(openai_request, each_tool_response_names_the_request_it_answers) {
  const ai::message wanted{ai::role::model,
                           {ai::part::request("a", 1, "id-1"),
                            ai::part::request("b", json{}, ""),
                            ai::part::request("b", "x", "")}};
  std::vector<ai::tool_response> done;
  done.emplace_back("b", "first");
  done.emplace_back("a", json{{"n", 1}}, "id-1");
  done.emplace_back("b", "second");
  const auto body = openai_body_of(openai_asking(
    {ai::user_text("go"), wanted, ai::tool_responses(std::move(done))}));
  const auto& messages = body.at("messages");
  ASSERT_EQ(messages.size(), 5u);
  EXPECT_EQ(messages[1], json::parse(R"({"role":"assistant","content":null,
    "tool_calls":[
      {"id":"id-1","type":"function",
       "function":{"name":"a","arguments":"1"}},
      {"id":"call_1_1","type":"function",
       "function":{"name":"b","arguments":"{}"}},
      {"id":"call_1_2","type":"function",
       "function":{"name":"b","arguments":"\"x\""}}]})"));
  EXPECT_EQ(messages[2], json::parse(R"({"role":"tool",
    "tool_call_id":"call_1_1","content":"first"})"));
  EXPECT_EQ(messages[3], json::parse(R"({"role":"tool",
    "tool_call_id":"id-1","content":"{\"n\":1}"})"));
  EXPECT_EQ(messages[4], json::parse(R"({"role":"tool",
    "tool_call_id":"call_1_2","content":"second"})"));
}

// -- answers ------------------------------------------------------------------

TEST(openai_answer, text_thoughts_and_usage_are_put_together) {
  const auto answer = openai_assembled(
    {R"({"choices":[{"delta":{"role":"assistant","content":""}}]})",
     R"({"choices":[{"delta":{"reasoning_content":"Hm."}}]})",
     R"({"choices":[{"delta":{"content":"Hel"}}]})",
     R"({"choices":[{"delta":{"content":"lo"},"finish_reason":null}]})",
     R"({"choices":[{"delta":{},"finish_reason":"length"}]})",
     R"({"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":2,)"
     R"("total_tokens":7}})",
     "[DONE]", R"({"choices":[{"delta":{"content":"?"}}]})"});
  EXPECT_EQ(answer.text(), "Hello") << "nothing follows the end";
  EXPECT_EQ(answer.message->content.at(0), ai::part::reasoning("Hm."));
  EXPECT_EQ(answer.finish_reason, ai::finish_reason::length);
  EXPECT_EQ(answer.usage, (ai::generation_usage{5, 2}));
}

TEST(openai_answer, tool_calls_that_come_in_pieces_are_put_together) {
  const auto answer = openai_assembled(
    {R"({"choices":[{"delta":{"tool_calls":[{"index":1,"id":"y",)"
     R"("function":{"name":"clock","arguments":""}}]}}]})",
     R"({"choices":[{"delta":{"tool_calls":[{"index":0,"id":"x",)"
     R"("function":{"name":"weather","arguments":"{\"ci"}}]}}]})",
     R"({"choices":[{"delta":{"tool_calls":[{"index":0,)"
     R"("function":{"arguments":"ty\":\"Lisbon\"}"}}]}}]})",
     R"({"choices":[{"delta":{},"finish_reason":"tool_calls"}]})"});
  EXPECT_EQ(
    answer.message->content,
    (std::vector{ai::part::request("weather", json{{"city", "Lisbon"}}, "x"),
                 ai::part::request("clock", json::object(), "y")}));
  EXPECT_EQ(answer.finish_reason, ai::finish_reason::stop);
}

TEST(openai_answer, tool_calls_that_nobody_has_counted_are_told_by_their_ids) {
  const auto piece = [](const char* id, const char* name, const char* input) {
    json call{{"function", {{"arguments", input}}}};
    if (*id != '\0')
      call["id"] = id;
    if (*name != '\0')
      call["function"]["name"] = name;
    return json{{"choices", {{{"delta", {{"tool_calls", {call}}}}}}}}.dump();
  };
  const auto answer = openai_assembled(
    {piece("x", "weather", R"({"ci)"), piece("", "", R"(ty":"Lis)"),
     piece("y", "clock", "{}"), piece("x", "", R"(bon"})"),
     R"({"choices":[{"delta":{},"finish_reason":"tool_calls"}]})"});
  EXPECT_EQ(
    answer.message->content,
    (std::vector{ai::part::request("weather", json{{"city", "Lisbon"}}, "x"),
                 ai::part::request("clock", json::object(), "y")}));
}

TEST(openai_answer, tool_calls_that_come_at_once_need_neither) {
  const auto calls = R"({"tool_calls":[)"
                     R"({"function":{"name":"clock","arguments":"{}"}},)"
                     R"({"function":{"name":"clock","arguments":"{}"}}]},)"
                     R"("finish_reason":"tool_calls"}]})"s;
  const auto clock = ai::part::request("clock", json::object(), "");
  openai::response_assembly whole;
  whole.take_document(R"({"choices":[{"message":)" + calls);
  whole.take_requests();
  EXPECT_EQ(whole.finish().message->content, (std::vector{clock, clock}));
  const auto streamed = openai_assembled({R"({"choices":[{"delta":)" + calls});
  EXPECT_EQ(streamed.message->content, (std::vector{clock, clock}));
}

TEST(openai_answer, tool_calls_side_by_side_may_have_one_id) {
  const auto clock = ai::part::request("clock", json::object(), "clock");
  openai::response_assembly whole;
  whole.take_document(
    R"({"choices":[{"message":{"tool_calls":[)"
    R"({"id":"clock","function":{"name":"clock","arguments":"{}"}},)"
    R"({"id":"clock","function":{"name":"clock","arguments":"{}"}}]},)"
    R"("finish_reason":"tool_calls"}]})");
  whole.take_requests();
  EXPECT_EQ(whole.finish().message->content, (std::vector{clock, clock}));
}

TEST(openai_answer, of_an_answer_that_is_too_long_half_a_call_is_left_out) {
  for (const auto* half : {"", R"({"ci)", "1"}) {
    json calls = json::array();
    calls.push_back({{"index", 0}, {"id", "x"}});
    calls[0]["function"] = {{"name", "clock"}, {"arguments", "{}"}};
    calls.push_back({{"index", 1}, {"id", "y"}});
    calls[1]["function"] = {{"name", "weather"}, {"arguments", half}};
    json choice{{"finish_reason", "length"}};
    choice["delta"] = {{"content", "Let me see"}, {"tool_calls", calls}};
    json event;
    event["choices"] = json::array({choice});
    const auto answer = openai_assembled({event.dump()});
    EXPECT_EQ(answer.finish_reason, ai::finish_reason::length);
    EXPECT_EQ(answer.message->content,
              (std::vector{ai::part::text("Let me see"),
                           ai::part::request("clock", json::object(), "x")}))
      << half;
  }
}

TEST(openai_answer, what_was_withheld_is_blocked) {
  const auto filtered
    = openai_assembled({R"({"choices":[{"finish_reason":"content_filter"}]})"});
  EXPECT_EQ(filtered.finish_reason, ai::finish_reason::blocked);
  EXPECT_FALSE(filtered.message);
  const auto refused = openai_assembled(
    {R"({"choices":[{"delta":{"refusal":"No."},"finish_reason":"stop"}]})"});
  EXPECT_EQ(refused.finish_reason, ai::finish_reason::blocked);
  EXPECT_EQ(refused.finish_message, "No.");
}

TEST(openai_answer, an_answer_in_one_document_is_read_too) {
  openai::response_assembly answer;
  const auto piece = answer.take_document(
    R"({"choices":[{"message":{"role":"assistant","content":"Hi"},)"
    R"("finish_reason":"stop"}]})");
  ASSERT_TRUE(piece);
  EXPECT_EQ(piece->text(), "Hi");
  EXPECT_EQ(answer.finish().text(), "Hi");
}

TEST(openai_answer, what_is_not_of_the_protocol_is_data_loss) {
  for (const auto* x :
       {"{", "", "7", "[]", "\xFF", R"({"choices":[7]})",
        R"({"choices":[{"delta":7}]})", R"({"choices":[{"delta":[]}]})",
        R"({"choices":[{"delta":{"content":7}}]})",
        R"({"choices":[{"delta":{"tool_calls":7}}]})",
        R"({"choices":[{"delta":{"tool_calls":[7]}}]})",
        R"({"choices":[{"delta":{"tool_calls":[{"index":"x"}]}}]})",
        R"({"choices":[{"delta":{"tool_calls":[{"index":-1}]}}]})",
        R"({"choices":[{"delta":{"tool_calls":[{"function":7}]}}]})",
        R"({"choices":[{"delta":{"tool_calls":[{"function":)"
        R"({"arguments":"{}"}}]},"finish_reason":"stop"}]})",
        R"({"choices":[{"delta":{"tool_calls":[{"function":)"
        R"({"name":"a","arguments":"{"}}]},"finish_reason":"stop"}]})"})
    EXPECT_EQ(error_of([&] { openai_assembled({x}); }).code(), errc::data_loss)
      << x;
}

TEST(openai_answer, a_stranger_cannot_fill_the_memory_with_tool_calls) {
  openai::response_assembly answer;
  const auto error = error_of([&] {
    for (int i = 0; i < 1'000; ++i)
      answer.take(R"({"choices":[{"delta":{"tool_calls":[{"index":)"
                  + std::to_string(i) + "}]}}]}");
  });
  EXPECT_EQ(error.code(), errc::resource_exhausted);
}

TEST(openai_answer, a_tool_call_has_its_limit) {
  openai::response_assembly answer;
  const auto piece
    = R"({"choices":[{"delta":{"tool_calls":[{"index":0,"function":)"
      R"({"arguments":")"
      + std::string(600'000, ' ') + R"("}}]}}]})";
  answer.take(piece);
  EXPECT_EQ(error_of([&] { answer.take(piece); }).code(),
            errc::resource_exhausted);
}

TEST(openai_answer, an_answer_without_its_end_is_cut_off) {
  EXPECT_EQ(error_of([] {
              openai_assembled(
                {R"({"choices":[{"delta":{"content":"Hel"}}]})"});
            }).code(),
            errc::unavailable);
  const auto told = error_of(
    [] { openai_assembled({R"({"error":{"message":"overloaded"}})"}); });
  EXPECT_EQ(told.code(), errc::unavailable);
  EXPECT_EQ(told.message(), "the server says: overloaded");
  const auto bare
    = error_of([] { openai_assembled({R"({"error":"no \"x\""})"}); });
  EXPECT_EQ(bare.message(), "the server says: no \"x\"");
}

// -- retries ------------------------------------------------------------------

TEST(openai_retry, seconds_and_dates_are_read) {
  using std::chrono::sys_days;
  using namespace std::chrono;
  const auto now = sys_days{year{1994} / November / 6} + 8h + 49min + 7s;
  const auto read
    = [&](std::string_view x) { return openai::parse_retry_after(x, now); };
  EXPECT_EQ(read("30"), 30s);
  EXPECT_EQ(read(" 0 "), 0s);
  EXPECT_EQ(read("Sun, 06 Nov 1994 08:49:37 GMT"), 30s);
  EXPECT_EQ(read("Sun, 06 Nov 1994 08:00:00 GMT"), 0s);
  EXPECT_EQ(read("Sat, 01 Jan 0000 00:00:00 GMT"), 0s);
  for (const auto* x :
       {"Fri, 12 Apr 2262 00:00:00 GMT", "Fri, 31 Dec 9999 23:59:59 GMT"})
    EXPECT_EQ(read(x), 24h * 366) << "behind the last nanosecond";
  for (const auto* x :
       {"", "soon", "-1", "1.5", "Sun, 31 Feb 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 08:49:37 CET"})
    EXPECT_FALSE(read(x)) << x;
  EXPECT_GE(read("99999999999999999999").value(), 24h);
}

TEST(openai_retry, the_pause_doubles_up_to_its_limit_and_varies) {
  ai::openai_options options;
  options.first_retry_after = 100ms;
  options.max_retry_after = 1s;
  options.max_retries = 6;
  const auto pause = [&](int retry, double fraction) {
    return openai::pause_before(retry, {}, fraction, options);
  };
  EXPECT_EQ(pause(0, 0), 50ms);
  EXPECT_EQ(pause(1, 0), 100ms);
  EXPECT_EQ(pause(1, 0.5), 150ms);
  EXPECT_EQ(pause(5, 0), 500ms);
  EXPECT_FALSE(pause(6, 0));
}

TEST(openai_retry, the_server_is_given_the_time_it_asks_for_within_limits) {
  ai::openai_options options;
  options.first_retry_after = 100ms;
  options.max_retry_after = 10s;
  EXPECT_EQ(openai::pause_before(0, 7s, 0, options), 7s);
  EXPECT_EQ(openai::pause_before(0, 0s, 0, options), 50ms);
  EXPECT_FALSE(openai::pause_before(0, 11s, 0, options));
}

// -- failures -----------------------------------------------------------------

TEST(openai_failure, each_status_has_its_code) {
  const auto code = [](unsigned x) { return openai::failure_of(x, "").code(); };
  EXPECT_EQ(code(400), errc::invalid_argument);
  EXPECT_EQ(code(401), errc::unauthenticated);
  EXPECT_EQ(code(403), errc::permission_denied);
  EXPECT_EQ(code(404), errc::not_found);
  EXPECT_EQ(code(429), errc::resource_exhausted);
  EXPECT_EQ(code(500), errc::internal);
  EXPECT_EQ(code(503), errc::unavailable);
  EXPECT_EQ(code(302), errc::failed_precondition);
}

TEST(openai_failure, what_the_server_says_is_told_but_tamed) {
  const auto error
    = openai::failure_of(429, R"({"error":{"message":"slow down"}})");
  EXPECT_EQ(error.message(), "the server answers with status 429: slow down");
  EXPECT_EQ(error.details(), R"({"error":"slow down","status":429})");
  EXPECT_EQ(openai::failure_of(500, "<html>").message(),
            "the server answers with status 500");
  const auto odd = openai::failure_of(
    500, json{{"error", std::string(100'000, 'x')}}.dump());
  EXPECT_LT(odd.message().size(), 1'000u);
  EXPECT_TRUE(json::accept(odd.details()));
}

TEST(openai_failure, the_key_is_taken_out_of_errors) {
  const status_error error{errc::unauthenticated, "bad key sk-1: sk-1"};
  const auto safe = openai::presentable(error, {"sk-1", "never said"});
  EXPECT_EQ(safe.code(), errc::unauthenticated);
  EXPECT_EQ(safe.message(), "bad key ***: ***");
}

TEST(openai_failure, no_key_hides_behind_escapes_or_at_the_end_of_a_text) {
  const auto key = R"(sk-"\-secret)"s;
  for (const auto size : {0, 490, 495, 499}) {
    const auto error = openai::failure_of(
      401, json{{"error", std::string(size, '!') + key}}.dump(), {key});
    for (const auto& text : {error.message(), error.details()})
      EXPECT_EQ(text.find("sk-"), std::string::npos) << text;
    EXPECT_TRUE(json::accept(error.details()));
  }
}

} // namespace tertulia::test::openai_parts_tests
