// SPDX-License-Identifier: BSD-3-Clause

// A model whose server has a protocol of its own: events with names, as in
// Anthropic's messages. A scripted server stands in for the real one.

#include <tertulia/ai/define_model.hpp>
#include <tertulia/ai/prompt_agent.hpp>
#include <tertulia/config.hpp>
#include <tertulia/http_stream.hpp>
#include <tertulia/json.hpp>

#include <iostream>
#include <string>
#include <string_view>
#include <utility>

#include "scripted_server.hpp"

namespace ai = tertulia::ai;

/// Returns the text at a path of a document; empty if there is none.
std::string text_at(const tertulia::json& from, const char* path) {
  const tertulia::json::json_pointer where{path};
  if (!from.contains(where) || !from.at(where).is_string())
    return {};
  return from.at(where).get<std::string>();
}

// --(request-begin)--
std::string request_text(const ai::generate_request& request) {
  tertulia::json result{
    {"model", "scripted"}, {"max_tokens", 1'024}, {"stream", true}};
  if (!request.system.empty())
    result["system"] = request.system;
  for (const auto& x : request.messages)
    result["messages"].push_back(
      {{"role", x.role == ai::role::model ? "assistant" : "user"},
       {"content", x.text()}});
  return result.dump();
}
// --(request-end)--

// --(adapter-begin)--
tertulia::task<ai::model_response>
ask_server(tertulia::context ctx, tertulia::http_client server,
           ai::generate_request request, ai::model_output out) {
  tertulia::http_stream answer{ctx, server};
  co_await answer.post("/messages", request_text(request));
  std::string text;
  auto reason = ai::finish_reason::unknown;
  while (const auto event = co_await answer.next_event()) {
    const auto data = tertulia::parse_json<tertulia::json>(event->data);
    if (event->name == "content_block_delta") {
      const auto piece = text_at(data, "/delta/text");
      text += piece;
      co_await out.send_text(piece);
    } else if (event->name == "message_delta") {
      reason = text_at(data, "/delta/stop_reason") == "max_tokens"
                 ? ai::finish_reason::length
                 : ai::finish_reason::stop;
    } else if (event->name == "error") {
      const tertulia::status_error error{tertulia::errc::unavailable,
                                         text_at(data, "/error/message")};
      throw server.presentable(error); // a server may repeat a key
    } else if (event->name == "message_stop") {
      answer.finish(); // the next request uses the same connection
      co_return ai::model_response{ai::model_text(text), reason};
    }
  }
  throw tertulia::status_error{tertulia::errc::unavailable,
                               "the server did not end its message"};
}
// --(adapter-end)--

// --(define-begin)--
ai::model define_messages_model(tertulia::runtime& rt, const std::string& url,
                                const std::string& key) {
  tertulia::http_options options;
  options.base_url = url;
  options.headers = {{"x-api-key", key}, {"anthropic-version", "2023-06-01"}};
  const tertulia::http_client server{options};
  return ai::define_model(
    rt, "messages",
    [server](tertulia::context ctx, ai::generate_request request,
             ai::model_output out) {
      return ask_server(ctx, server, std::move(request), out);
    },
    "at " + server.authority());
}
// --(define-end)--

/// Returns the events of an answer, or of an error in its place.
std::string events_for(std::string_view request) {
  std::string result = "event: message_start\ndata: {\"message\":{}}\n\n";
  if (request.find("the weather") != std::string_view::npos)
    return result
           + "event: error\ndata: {\"error\":{\"message\":"
             "\"overloaded, says key-of-nobody\"}}\n\n";
  for (const auto* x : {"Good", " morning", ", Ada."})
    result += "event: content_block_delta\ndata: {\"delta\":{\"text\":\""
              + std::string{x} + "\"}}\n\nevent: ping\ndata: {}\n\n";
  return result
         + "event: message_delta\ndata: {\"delta\":{\"stop_reason\":"
           "\"end_turn\"}}\n\nevent: message_stop\ndata: {}\n\n";
}

int main() {
  const example::scripted_server server{events_for};
  tertulia::config cfg;
  caf::actor_system system{cfg};
  tertulia::runtime rt{system};
  const auto model = define_messages_model(rt, server.url(), "key-of-nobody");
  const auto chat = ai::define_prompt_agent(rt, "chat", ai::prompt{model});
  for (const auto* text : {"Hello, I am Ada.", "How is the weather?"}) {
    std::cout << "> " << text << '\n';
    auto talk = chat.stream_bidi();
    talk.send_text(text);
    talk.close();
    try {
      for (const auto& item : talk.responses())
        if (item.chunk)
          std::cout << item.chunk->text() << '|';
      std::cout << '\n';
      talk.output();
    } catch (const tertulia::status_error& x) {
      std::cout << to_string(x.code()) << ": " << x.message() << '\n';
    }
  }
}
