// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/ai/define_model.hpp>
#include <tertulia/ai/openai_model.hpp>
#include <tertulia/http_stream.hpp>
#include <tertulia/span_names.hpp>

#include <cstdlib>
#include <utility>

#include "request_json.hpp"
#include "response_assembly.hpp"
#include <fmt/format.h>

namespace tertulia::ai {

namespace {

std::string variable(const char* name) {
  const auto* found = std::getenv(name);
  return found == nullptr ? std::string{} : std::string{found};
}

/// Returns a client of the server.
/// @errors see `http_client`; an invalid URL of the environment is named.
http_client client_of(const openai_options& options) {
  http_options result = options;
  const auto key = options.api_key.empty()
                     ? variable(options.api_key_variable.c_str())
                     : options.api_key;
  if (!key.empty())
    result.headers.emplace(result.headers.begin(), "Authorization",
                           "Bearer " + key);
  if (!result.base_url.empty())
    return http_client{std::move(result)};
  constexpr auto* name = "OPENAI_BASE_URL";
  result.base_url = variable(name);
  if (result.base_url.empty())
    result.base_url = "https://api.openai.com/v1";
  try {
    return http_client{std::move(result)};
  } catch (const status_error& x) {
    constexpr std::string_view option = "base_url";
    auto text = x.message();
    if (text.starts_with(option))
      text.replace(0, option.size(), name);
    throw status_error{x.code(), text};
  }
}

task<model_response> read_stream(http_stream& from, model_output out) {
  openai::response_assembly answer;
  while (!answer.ended()) {
    const auto event = co_await from.next_event();
    if (!event)
      break;
    if (auto piece = answer.take(event->data))
      co_await out.send(std::move(*piece));
  }
  from.finish();
  if (auto requests = answer.take_requests())
    co_await out.send(std::move(*requests));
  co_return answer.finish();
}

task<model_response> read_document(http_stream& from, model_output out) {
  std::string text;
  for (;;) {
    const auto bytes = co_await from.read();
    if (bytes.empty())
      break;
    text += bytes;
  }
  from.finish();
  openai::response_assembly answer;
  if (auto piece = answer.take_document(text))
    co_await out.send(std::move(*piece));
  if (auto requests = answer.take_requests())
    co_await out.send(std::move(*requests));
  co_return answer.finish();
}

task<model_response>
answer_from_server(context ctx, http_client server, std::string model,
                   generate_request question, model_output out) {
  ctx.trace().set_attribute(span_names::provider, "openai");
  ctx.trace().set_attribute(span_names::request_model, model);
  try {
    http_request request{"POST", "/chat/completions",
                         openai::request_text(model, question)};
    request.headers.emplace_back("Accept",
                                 "text/event-stream, application/json");
    http_stream answer{ctx, server};
    const auto head = co_await answer.open(std::move(request));
    const auto type = head.field("content-type");
    if (type.starts_with("application/json"))
      co_return co_await read_document(answer, out);
    if (type.empty() || type.starts_with("text/event-stream"))
      co_return co_await read_stream(answer, out);
    throw status_error{errc::data_loss,
                       "the server's answer is neither events nor JSON"};
  } catch (const status_error& x) {
    throw server.presentable(x);
  }
}

} // namespace

model define_openai_model(runtime& rt, std::string name,
                          openai_options options) {
  if (options.model.empty())
    throw status_error{errc::invalid_argument,
                       "a model needs the name that its server knows"};
  const auto server = client_of(options);
  auto description = fmt::format("{} at {}", options.model, server.authority());
  return define_model(
    rt, std::move(name),
    [server, model = options.model](context ctx, generate_request request,
                                    model_output out) {
      return answer_from_server(ctx, server, model, std::move(request), out);
    },
    std::move(description));
}

} // namespace tertulia::ai
