// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/json.hpp>
#include <tertulia/open.hpp>
#include <tertulia/store/runs.hpp>

#include <algorithm>
#include <optional>
#include <utility>

#include "message/error_body.hpp"
#include "message/redaction.hpp"
#include "router.hpp"
#include "run_list.hpp"
#include "run_stream.hpp"
#include "talk/ask.hpp"
#include "talk/open_body.hpp"
#include "talk/stored_conversation.hpp"
#include <fmt/format.h>

namespace tertulia::web {

namespace {

/// Body of a request that sends inputs to a run.
struct inputs_body {
  std::vector<json> inputs;
  /// Number of the first one in the conversation, or in the run of another
  /// action. Inputs that the run has are left out, so that a request can be
  /// sent again.
  std::optional<std::uint64_t> number;
  bool close = false;
  bool cancel = false;
  /// The client has heard the end of the run.
  bool confirm = false;
};

BOOST_DESCRIBE_STRUCT(inputs_body, (), (inputs, number, close, cancel, confirm))

// Not in a coroutine: g++ 12 does not compile such lists there.
std::string receipt_of(std::uint64_t first, std::size_t accepted) {
  return line_of({{"number", first}, {"accepted", accepted}});
}

/// Returns a page of runs for a caller, without the process of each run.
std::string text_of(const redaction& by, run_page page) {
  run_list result;
  result.more = page.more;
  for (auto& x : page.runs) {
    auto& to = result.runs.emplace_back();
    to.id = std::move(x.id);
    to.key = std::move(x.agent);
    to.session = std::move(x.session);
    to.status = x.status;
    to.snapshot = std::move(x.snapshot);
    if (x.code != errc::ok)
      to.error = json{{"status", status_name(x.code)}, {"message", x.error}};
    to.began_at = x.began_at;
    if (x.ended_at != timestamp{})
      to.ended_at = x.ended_at;
  }
  return by.text(outgoing_kind::stored, to_json(result));
}

net::awaitable<void> list_runs(server_core& server, exchange& x,
                               const std::string& key) {
  static_cast<void>(server.find(key));
  server.authorize(x.caller, access_verb::list, key);
  list_runs_request question;
  question.agent = key;
  question.caller = caller_name{x.caller};
  question.after = run_id{x.place.get("after")};
  question.limit = limit_of(x.place);
  if (const auto status = x.place.get("status"); !status.empty())
    question.status = from_json<run_status>(json(status));
  auto page = co_await ask<run_page>(server.actions().system(),
                                     server.actions().front_desk(),
                                     std::move(question), x.executor());
  const redaction by{server.options(), x.caller, key};
  co_await x.reply(
    json_response(http::status::ok, text_of(by, std::move(page))));
}

net::awaitable<run_info> ask_about_run(server_core& server, exchange& x,
                                       const std::string& key, run_verb verb) {
  static_cast<void>(server.find(key));
  server.authorize(x.caller,
                   verb == run_verb::abort ? access_verb::abort
                                           : access_verb::inspect,
                   key, x.place.get("run"), x.place.get("session"));
  run_request question;
  question.verb = verb;
  question.key = key;
  question.run = run_id{x.place.get("run")};
  question.session = session_id{x.place.get("session")};
  question.caller = caller_name{x.caller};
  if (!question.run && !question.session)
    throw status_error{errc::invalid_argument,
                       "neither run nor session is in the query"};
  co_return co_await ask<run_info>(server.actions().system(),
                                   server.actions().front_desk(),
                                   std::move(question), x.executor());
}

} // namespace

} // namespace tertulia::web

template <>
inline constexpr bool
  tertulia::refuses_unknown_members<tertulia::web::inputs_body> = true;

namespace tertulia::web {

net::awaitable<void> open_run(server_core& server, exchange& x,
                              std::string key) {
  auto body = open_body_of(x.request.body());
  auto terms = open_terms_of(body, server, x, key, true);
  run_stream run{server, x, server.find(key), std::move(terms)};
  if (co_await run.wait_until_open())
    co_await x.reply(json_response(http::status::created, run.opened().text));
}

net::awaitable<void> show_runs(server_core& server, exchange& x,
                               std::string key) {
  if (x.place.get("run").empty() && x.place.get("session").empty())
    co_return co_await list_runs(server, x, key);
  const auto found = co_await ask_about_run(server, x, key, run_verb::inspect);
  co_await x.reply(json_response(http::status::ok, to_json_text(found)));
}

net::awaitable<void> abort_run(server_core& server, exchange& x,
                               std::string key) {
  const auto found = co_await ask_about_run(server, x, key, run_verb::abort);
  co_await x.reply(json_response(http::status::ok, to_json_text(found)));
}

net::awaitable<void> send_inputs(server_core& server, exchange& x,
                                 std::string key) {
  auto body = from_json<inputs_body>(read_document(x.request.body()));
  auto target = target_of(x.place);
  target.attach = true;
  if (is_guest(target, x) && (body.close || body.cancel || body.confirm))
    throw status_error{errc::permission_denied,
                       "the caller may only answer questions of tools here"};
  if (body.confirm) {
    if (!body.inputs.empty())
      throw status_error{errc::invalid_argument,
                         "$.inputs: a run that has ended takes none"};
    const auto found
      = co_await ask_about_run(server, x, key, run_verb::inspect);
    if (found.status == run_status::running)
      throw status_error{errc::failed_precondition, "the run has not ended"};
    target.run = found.id.str(); // a session may have another one by now
    target.session.reset();
    target.after = x.place.number("after");
  }
  auto terms = open_terms_of(target, server, x, key, true);
  for (const auto& input : body.inputs)
    terms->answers.check(input);
  run_stream run{server, x, server.find(key), std::move(terms)};
  if (!co_await run.wait_until_open())
    co_return;
  const auto before
    = read_document(run.opened().text)["inputs"].get<std::uint64_t>();
  const auto first = body.number.value_or(before);
  if (first > before) {
    const auto text = fmt::format("input {} is missing", before);
    throw status_error{errc::out_of_range, text};
  }
  const auto known
    = std::min<std::uint64_t>(before - first, body.inputs.size());
  for (auto i = known; i < body.inputs.size(); ++i)
    run.client().send(payload::of(std::move(body.inputs[i])));
  if (body.close)
    run.client().close();
  if (body.cancel)
    run.client().cancel();
  if (!body.confirm)
    run.client().flush();
  std::vector<frame> frames;
  while (co_await run.take(frames) == channel_reader<frame>::outcome::items)
    for (const auto& one : frames) {
      if (body.confirm && is_last(one.kind))
        run.client().confirm();
      switch (one.kind) {
        case frame_kind::refusal:
        case frame_kind::error:
          if (!body.cancel && !body.confirm)
            co_return co_await x.reply(error_response(one.code, one.text));
          [[fallthrough]];
        case frame_kind::output:
          if (known < body.inputs.size() && !body.cancel)
            throw status_error{errc::failed_precondition, "the run has ended"};
          [[fallthrough]];
        case frame_kind::flushed:
          co_return co_await x.reply(
            json_response(http::status::accepted,
                          receipt_of(first, body.inputs.size() - known)));
        default: break;
      }
    }
  throw status_error{errc::unavailable, "the run was left"};
}

} // namespace tertulia::web
