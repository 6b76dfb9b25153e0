// SPDX-License-Identifier: BSD-3-Clause

// Models behind one handle: a model written here, one that needs no server, and
// one on a server with OpenAI's protocol: `models NAME`, or `models NAME URL
// [CERTIFICATES]` for your own server.

#include <tertulia/ai/chat_agent.hpp>
#include <tertulia/ai/define_model.hpp>
#include <tertulia/ai/offline_model.hpp>
#include <tertulia/ai/openai_model.hpp>
#include <tertulia/runtime.hpp>

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "terminal_talk.hpp"

namespace ai = tertulia::ai;
using namespace std::chrono_literals;

// --(parrot-begin)--
tertulia::task<ai::model_response>
parrot(tertulia::context, ai::generate_request request, ai::model_output out) {
  const auto received = request.messages.back().text();
  co_await out.send_text(received + "! ");
  out.flush(); // no need to wait for more
  co_await out.send_text(received + '!');
  co_return ai::model_response{ai::model_text(received + "! " + received + '!'),
                               ai::finish_reason::stop};
}

static_assert(ai::model_function<decltype(&parrot)>);
// --(parrot-end)--

// --(server-begin)--
ai::model define_server_model(tertulia::runtime& rt, const std::string& name) {
  ai::openai_options options;
  options.model = name; // the key is in OPENAI_API_KEY
  return ai::define_openai_model(rt, "server", options);
}
// --(server-end)--

// --(options-begin)--
ai::model define_house_model(tertulia::runtime& rt, const std::string& name,
                             const std::string& url, const std::string& trust) {
  ai::openai_options options;
  options.model = name;
  options.base_url = url;
  options.api_key_variable = "HOUSE_KEY"; // or `api_key`, the key itself
  options.headers = {{"X-Team", "travel"}};
  if (const auto* proxy = std::getenv("HOUSE_PROXY"))
    options.proxy = proxy;
  options.ca_file = trust; // empty: what the system trusts
  // How patient we are: with the connection, the first word, each further one,
  // and all in all.
  options.connect_within = 2s;
  options.first_byte_within = 20s;
  options.next_bytes_within = 10s;
  options.total_within = 2min;
  // What is tried again, and how long is waited before.
  options.max_retries = 2;
  options.first_retry_after = 100ms;
  options.max_retry_after = 5s;
  // What the server may send, in bytes, and how many connections are kept.
  options.max_header_size = 8'192;
  options.max_line_size = 65'536;
  options.max_answer_size = 1'048'576;
  options.max_error_size = 16'384;
  options.max_idle_connections = 8;
  return ai::define_openai_model(rt, "house", options);
}
// --(options-end)--

// --(chat-begin)--
auto define_chat(tertulia::runtime& rt, const ai::model& model) {
  return ai::define_chat_agent(
    rt, "chat-" + model.info().name,
    [model](tertulia::context ctx, ai::chat_session<tertulia::nothing> sess,
            tertulia::input<ai::conversation_input> in,
            ai::chat_responder<tertulia::nothing> out) -> tertulia::task<> {
      while (auto input = co_await in.next()) {
        co_await sess.add_messages(input->messages);
        auto messages = co_await sess.messages();
        ai::generate_request request{std::move(messages), "Be brief."};
        auto answer
          = co_await model.generate(ctx, std::move(request), [&](auto piece) {
              return out.send_chunk(std::move(piece));
            });
        std::vector<ai::message> answers{std::move(*answer.message)};
        co_await sess.add_messages(std::move(answers));
        co_await out.end_turn();
      }
    });
}
// --(chat-end)--

template <class Chat>
void talk_to(const Chat& chat, const std::vector<std::string>& texts) {
  auto talk = chat.stream_bidi();
  for (const auto& text : texts) {
    std::cout << "> " << text << '\n';
    talk.send_text(text);
    for (const auto& item : talk.responses())
      if (item.chunk)
        std::cout << example::shown(item.chunk->text()) << std::flush;
    std::cout << '\n';
  }
}

// --(response-begin)--
void tell(const ai::model_response& x) {
  std::cout << x.text();
  if (x.finish_reason)
    std::cout << " [" << tertulia::to_string(*x.finish_reason) << ']';
  if (!x.finish_message.empty()) // such as why it refuses
    std::cout << " [" << x.finish_message << ']';
  const ai::generation_usage cost = x.usage.value_or(ai::generation_usage{});
  if (cost.total_tokens > 0)
    std::cout << " [" << cost.total_tokens << " tokens: " << cost.input_tokens
              << " in, " << cost.output_tokens << " out]";
  if (x.latency_ms > 60'000)
    std::cout << " [at last]";
  std::cout << '\n';
}
// --(response-end)--

int main(int argc, char** argv) {
  tertulia::config cfg;
  caf::actor_system system{cfg};
  tertulia::runtime rt{system};
  // --(define-begin)--
  const ai::model bird = ai::define_model(rt, "parrot", parrot);
  talk_to(define_chat(rt, bird), {"Hello"});
  // --(define-end)--

  // --(offline-begin)--
  ai::offline_options aloud;
  aloud.word_pause = 2ms; // 50 ms for a person
  const auto eliza = ai::define_offline_model(rt, "eliza", aloud);
  // --(offline-end)--
  talk_to(define_chat(rt, eliza),
          {"Hello, my name is Ada.", "I am tired of my job.",
           "Do you know my name?"});

  // --(key-begin)--
  const ai::generate_request request{
    ai::message_log{}.with(ai::user_text("Hello"))};
  const auto answer = rt.run_action(
    "/model/eliza", {}, {}, tertulia::with_init(tertulia::to_json(request)));
  tell(tertulia::from_json<ai::model_response>(answer));
  // --(key-end)--

  if (argc == 2)
    talk_to(define_chat(rt, define_server_model(rt, argv[1])), {"Hello"});
  if (argc > 2)
    talk_to(define_chat(rt, define_house_model(rt, argv[1], argv[2],
                                               argc > 3 ? argv[3] : "")),
            {"Hello"});
}
