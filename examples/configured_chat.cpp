// SPDX-License-Identifier: BSD-3-Clause

// A flow that is configured by initialization data. A function stands in for
// the language model.

#include <tertulia/describe.hpp>
#include <tertulia/runtime.hpp>

#include <iostream>
#include <string>
#include <utility>

// --(chat-init-begin)--
struct chat_init {
  std::string system_prompt;
  double temperature = 1.0;
};

// From this line follow JSON both ways, a JSON Schema and CAF inspection.
BOOST_DESCRIBE_STRUCT(chat_init, (), (system_prompt, temperature))
// --(chat-init-end)--

std::string generate(const chat_init& how, const std::string& prompt) {
  return "(" + how.system_prompt + ", at "
         + std::to_string(how.temperature).substr(0, 3)
         + ") You said: " + prompt;
}

tertulia::task<std::string> configured_chat(tertulia::context ctx,
                                            chat_init init,
                                            tertulia::input<std::string> in,
                                            tertulia::output<std::string> out) {
  while (auto prompt = co_await in.next()) {
    // A model call blocks, so it runs on a thread of its own. It is a step of
    // the flow, so that traces show it.
    auto reply = co_await ctx.run_step("generate", [&] {
      return ctx.run_blocking([&] { return generate(init, *prompt); });
    });
    co_await out.send(std::move(reply));
    co_await out.end_turn();
  }
  co_return "done";
}

int main() {
  tertulia::config cfg;
  caf::actor_system system{cfg};
  tertulia::runtime rt{system};
  auto flow = rt.define_bidi_flow("configuredChat", configured_chat);

  auto talk = flow.stream_bidi(
    tertulia::with_init(chat_init{"You are a helpful assistant", 0.7}));
  for (auto* line : {"Hello!", "What are channels used for?"}) {
    talk.send(line);
    for (const auto& chunk : talk.responses()) // this turn
      std::cout << chunk << '\n';
  }
  talk.close();
  std::cout << talk.output() << '\n';
}
