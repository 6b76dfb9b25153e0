// SPDX-License-Identifier: BSD-3-Clause

// Models behind one handle: one that is written here, one that needs nothing,
// and, if the program is given the name of one, one of a server that speaks as
// OpenAI's do.

#include <tertulia/ai/agent.hpp>
#include <tertulia/ai/define_model.hpp>
#include <tertulia/ai/offline_model.hpp>
#include <tertulia/ai/openai_model.hpp>

#include <iostream>
#include <string>
#include <vector>

#include "terminal_talk.hpp"

namespace ai = tertulia::ai;

// --(parrot-begin)--
tertulia::task<ai::model_response>
parrot(tertulia::context, ai::generate_request asked, ai::model_output out) {
  const auto heard = asked.messages.back().text();
  co_await out.send_text(heard + "! ");
  co_await out.send_text(heard + '!');
  co_return ai::model_response{ai::model_text(heard + "! " + heard + '!'),
                               ai::finish_reason::stop};
}
// --(parrot-end)--

// --(server-begin)--
ai::model define_server_model(tertulia::runtime& rt, const std::string& name) {
  ai::openai_options options;
  options.model = name; // the key is in OPENAI_API_KEY
  return ai::define_openai_model(rt, "server", options);
}
// --(server-end)--

// --(chat-begin)--
auto define_chat(tertulia::runtime& rt, const ai::model& model) {
  return ai::define_agent(
    rt, "chat-" + model.info().name,
    [model](tertulia::context ctx, ai::session<tertulia::nothing> sess,
            tertulia::input<ai::conversation_input> in,
            ai::responder<tertulia::nothing> out) -> tertulia::task<> {
      while (auto said = co_await in.next()) {
        co_await sess.add_messages(said->messages);
        auto messages = co_await sess.messages();
        ai::generate_request asked{std::move(messages), "Be brief."};
        auto answer
          = co_await model.generate(ctx, std::move(asked), [&](auto piece) {
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
    for (const auto& item : talk.receive())
      if (item.chunk)
        std::cout << example::shown(item.chunk->text()) << std::flush;
    std::cout << '\n';
  }
}

int main(int argc, char** argv) {
  tertulia::config cfg;
  caf::actor_system system{cfg};
  tertulia::runtime rt{system};
  talk_to(define_chat(rt, ai::define_model(rt, "parrot", parrot)), {"Hello"});
  talk_to(define_chat(rt, ai::define_offline_model(rt)),
          {"Hello, my name is Ada.", "I am tired of my job.",
           "Do you know my name?"});

  // --(key-begin)--
  const ai::generate_request asked{
    ai::message_log{}.with(ai::user_text("Hello"))};
  const auto answer = rt.run("/model/parrot", {}, {},
                             tertulia::with_init(tertulia::to_json(asked)));
  std::cout << tertulia::from_json<ai::model_response>(answer).text() << '\n';
  // --(key-end)--

  if (argc > 1)
    talk_to(define_chat(rt, define_server_model(rt, argv[1])), {"Hello"});
}
