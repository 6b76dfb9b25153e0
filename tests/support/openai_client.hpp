// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/ai/define_model.hpp>
#include <tertulia/ai/openai_model.hpp>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/http_server.hpp"
#include "support/threaded.hpp"
#include "support/valve.hpp"

namespace tertulia::test {

using http_peer = http_server::peer;

inline std::string sse_event(std::string_view data) {
  return "data: " + std::string{data} + "\n\n";
}

/// Returns an event with a piece of text.
inline std::string sse_text(const std::string& text) {
  return sse_event(R"({"choices":[{"delta":{"content":)" + json(text).dump()
                   + "}}]}");
}

inline const auto sse_end
  = sse_event(R"({"choices":[{"delta":{},"finish_reason":"stop"}]})")
    + sse_event(R"({"choices":[],"usage":{"prompt_tokens":3,)"
                R"("completion_tokens":2,"total_tokens":5}})")
    + sse_event("[DONE]");

/// Returns a handler that sends a stream of these events.
inline http_server::handler streaming(std::string events) {
  return [=](http_peer& client, const std::string&) {
    client.begin_events();
    client.send_last_chunk(events);
  };
}

/// Returns a handler that begins a stream of events with a piece, and then
/// sends `more` as long as the client listens, or waits until it hangs up.
inline http_server::handler streaming_on(std::string piece,
                                         std::string more = {}) {
  return [=](http_peer& client, const std::string&) {
    client.begin_events();
    client.send_chunk(piece);
    while (!more.empty() && client.send_chunk(more)) {
    }
    client.wait_until_closed();
  };
}

/// Sends an answer as a server should.
inline void say_hello(http_peer& client, const std::string& = {}) {
  client.begin_events();
  client.send_chunk(sse_text("Hel"));
  client.send_chunk(sse_text("lo"));
  client.send_last_chunk(sse_end);
}

/// Returns a handler that handles the first requests with `fail`.
inline http_server::handler hello_after(int failures,
                                        http_server::handler fail) {
  const auto count = std::make_shared<std::atomic<int>>(0);
  return [=](http_peer& client, const std::string& request) {
    if (++*count <= failures)
      fail(client, request);
    else
      say_hello(client);
  };
}

/// Outcome of a call.
struct openai_outcome {
  std::vector<std::string> pieces;
  std::optional<ai::model_response> response;
  std::optional<status_error> error;

  [[nodiscard]] errc code() const {
    return error ? error->code() : errc::ok;
  }

  /// Returns the response; throws the error if the call has failed.
  [[nodiscard]] const ai::model_response& value() const {
    if (error)
      throw *error;
    return response.value();
  }
};

/// Removes all environment variables that affect a client.
inline void forget_openai_environment() {
  for (const auto* x : {"HTTPS_PROXY", "https_proxy", "NO_PROXY", "no_proxy",
                        "OPENAI_API_KEY", "OPENAI_BASE_URL"})
    ::unsetenv(x);
}

struct openai_client : threaded {
  openai_client() {
    forget_openai_environment();
    options.model = "m";
    options.api_key = "sk-secret";
    options.first_retry_after = std::chrono::milliseconds{1};
    options.connect_within = patience;
    options.first_byte_within = patience;
    options.next_bytes_within = patience;
  }

  /// Checks that no call of a model leaves anything behind, however it ends.
  void TearDown() override {
    EXPECT_TRUE(nothing_is_left());
  }

  void serve(http_server::handler answer) {
    server.emplace(std::move(answer));
    options.base_url = server->url();
  }

  ai::model define() {
    return ai::define_openai_model(*rt, "m" + std::to_string(++defined_),
                                   options);
  }

  static auto asking(std::string text) {
    return with_init{
      ai::generate_request{ai::message_log{{ai::user_text(std::move(text))}}}};
  }

  static openai_outcome hear(const ai::model& model, std::string text = "Hi") {
    openai_outcome result;
    try {
      auto talk = model.action().stream_bidi(asking(std::move(text)));
      talk.close();
      for (auto& x : talk.responses(patience))
        result.pieces.push_back(x.text());
      result.response = talk.output(patience);
    } catch (const status_error& x) {
      result.error = x;
    }
    return result;
  }

  /// Starts a server with this handler and lets a model answer.
  openai_outcome ask(http_server::handler answer) {
    serve(std::move(answer));
    return hear(define());
  }

  ai::openai_options options;
  std::optional<http_server> server;

private:
  int defined_ = 0;
};

} // namespace tertulia::test
