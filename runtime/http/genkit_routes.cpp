// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/detail/text.hpp>
#include <tertulia/json.hpp>

#include <string_view>
#include <utility>

#include "error_body.hpp"
#include "open_body.hpp"
#include "router.hpp"
#include "run_stream.hpp"

// Protocol of `runFlow` and `streamFlow` of Genkit's clients. Their parser is
// not one of event streams: an event is one line behind `data: ` or `error: `,
// and characters outside ASCII are escaped, because it decodes each part of a
// body on its own.

namespace tertulia::web {

namespace {

std::string ascii(const json& x) {
  return x.dump(-1, ' ', true, json::error_handler_t::replace);
}

bool wants_stream(const exchange& x) {
  return x.place.get("stream") == "true"
         || detail::lowered(field_of(x.request, http::field::accept))
                .find("text/event-stream")
              != std::string::npos;
}

/// Returns the opening for a body: `data` is the only input.
open_body read_call(std::string_view text) {
  const auto call = read_document(text);
  if (!call.is_object())
    throw status_error{errc::invalid_argument, "$: is not an object"};
  open_body result;
  if (const auto i = call.find("init"); i != call.end())
    result.init = *i;
  if (const auto i = call.find("data"); i != call.end())
    result.inputs.push_back(*i);
  result.close = true;
  return result;
}

/// Appends the events of a frame.
/// @returns whether it is the last one.
bool append(std::string& to, const frame& x) {
  if (x.kind == frame_kind::chunks) {
    for (const auto& chunk : read_document(x.text))
      to += "data: " + ascii({{"message", chunk}}) + "\n\n";
    return false;
  }
  const auto is_error
    = x.kind == frame_kind::error || x.kind == frame_kind::refusal;
  if (is_error)
    to += "error: " + ascii({{"error", read_document(x.text)}}) + "\n\n";
  else if (x.kind == frame_kind::output)
    to += "data: " + ascii({{"result", read_document(x.text)}}) + "\n\n";
  return is_error || x.kind == frame_kind::output;
}

} // namespace

net::awaitable<void> run_for_genkit(server_core& server, exchange& x,
                                    std::string key) {
  auto body = read_call(x.request.body());
  if (auto session = x.place.get("session"); !session.empty())
    body.session = std::move(session);
  run_stream run{server, x, key, opening_of(body, server, x, key, false)};
  run.send(body);
  const auto is_stream = wants_stream(x);
  if (!is_stream && !co_await run.wait_until_open())
    co_return;
  std::vector<frame> frames;
  if (is_stream && !co_await x.begin(event_stream_head()))
    co_return;
  auto is_over = false;
  while (!is_over
         && co_await run.take(frames)
              == channel_reader<frame>::outcome::items) {
    std::string text;
    for (const auto& one : frames) {
      if (is_over)
        break;
      if (is_stream) {
        is_over = append(text, one);
      } else if (one.kind == frame_kind::output) {
        co_return co_await x.reply(
          json_response(http::status::ok, "{\"result\":" + one.text + "}"));
      } else if (one.kind == frame_kind::error
                 || one.kind == frame_kind::refusal) {
        co_return co_await x.reply(json_response(
          static_cast<http::status>(http_status(one.code)), one.text));
      }
    }
    if (is_stream && !text.empty() && !co_await x.write(text))
      co_return;
  }
  if (!is_stream)
    throw status_error{errc::unavailable, "the run was left"};
  if (is_over)
    co_await x.end();
  else
    x.reset(); // an end without a result keeps Genkit's client busy for ever
}

} // namespace tertulia::web
