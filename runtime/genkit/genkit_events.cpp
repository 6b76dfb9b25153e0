// SPDX-License-Identifier: BSD-3-Clause

#include "genkit_events.hpp"

#include <tertulia/detail/text.hpp>

#include <algorithm>
#include <utility>

#include "message/error_body.hpp"
#include "message/json_slices.hpp"
#include "talk/open_body.hpp"

namespace tertulia::web {

namespace {

bool is_printable(char x) {
  return x >= ' ' && x <= '~';
}

void append(std::string& to, const genkit_event& x) {
  const auto is_error = x.kind == genkit_event_kind::error;
  to += is_error                               ? "error: {\"error\":"
        : x.kind == genkit_event_kind::message ? "data: {\"message\":"
                                               : "data: {\"result\":";
  if (std::all_of(x.text.begin(), x.text.end(), is_printable))
    to += x.text;
  else
    to += read_document(x.text).dump(-1, ' ', true,
                                     json::error_handler_t::replace);
  to += "}\n\n";
}

response_message last_response(const genkit_event& x) {
  if (x.kind == genkit_event_kind::error)
    return error_response(x.code, x.text);
  return json_response(http::status::ok, "{\"result\":" + x.text + '}');
}

response_message stream_head(const frame& opened, bool is_durable) {
  auto result = event_stream_head();
  if (is_durable && opened.kind == frame_kind::opened)
    result.add(genkit_stream_field, opened.position->run.str());
  return result;
}

bool is_last(const std::vector<genkit_event>& xs) {
  return !xs.empty() && xs.back().kind != genkit_event_kind::message;
}

} // namespace

void genkit_flow_translator::translate(const frame& x,
                                       std::vector<genkit_event>& to) {
  switch (x.kind) {
    case frame_kind::chunks:
      for_each_element(x.text, [&](std::string_view chunk) {
        to.push_back({genkit_event_kind::message, std::string{chunk}});
      });
      break;
    case frame_kind::output:
      to.push_back({genkit_event_kind::result, x.text});
      break;
    case frame_kind::error:
    case frame_kind::refusal:
      to.push_back({genkit_event_kind::error, x.text, x.code});
      break;
    default: break;
  }
}

bool wants_genkit_stream(const exchange& x) {
  return x.place.get("stream") == "true"
         || detail::lowered(field_of(x.request, http::field::accept))
                .find("text/event-stream")
              != std::string::npos;
}

net::awaitable<void> write_genkit_events(exchange& x, run_stream& run,
                                         genkit_translator& by,
                                         bool is_durable) {
  const auto is_stream = wants_genkit_stream(x);
  if (is_stream && !co_await x.begin(stream_head(run.opened(), is_durable)))
    co_return;
  std::vector<frame> frames(1, run.opened());
  std::vector<genkit_event> events;
  for (;;) {
    events.clear();
    for (const auto& one : frames)
      if (!is_last(events))
        by.translate(one, events);
    if (is_stream) {
      std::string text;
      for (const auto& one : events)
        append(text, one);
      if (!text.empty() && !co_await x.write(text))
        co_return;
    }
    if (is_last(events))
      break;
    if (co_await run.take(frames) != channel_reader<frame>::outcome::items) {
      if (!is_stream)
        throw status_error{errc::unavailable, "the run was left"};
      // An end without a result keeps Genkit's client busy for ever.
      co_return x.reset();
    }
  }
  if (is_stream)
    co_await x.end();
  else
    co_await x.reply(last_response(events.back()));
}

net::awaitable<void> write_genkit_event(exchange& x, genkit_event event) {
  if (!wants_genkit_stream(x))
    co_return co_await x.reply(last_response(event));
  if (!co_await x.begin(event_stream_head()))
    co_return;
  std::string text;
  append(text, event);
  const auto is_there = co_await x.write(text);
  if (is_there)
    co_await x.end();
}

} // namespace tertulia::web
