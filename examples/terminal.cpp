// SPDX-License-Identifier: BSD-3-Clause

// A terminal for an agent whose tools ask before they act.

#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "waiter.hpp"

using namespace example;

// --(terminal-begin)--
/// Asks the user; anything but "yes" refuses.
ai::message ask(const ai::part& question) {
  std::string line;
  std::cout << '\n' << ai::question_text(question) << ' ' << std::flush;
  std::getline(std::cin, line);
  return line == "yes" ? ai::approval(question) : ai::refusal(question);
}

int main() {
  tertulia::config cfg;
  caf::actor_system system{cfg};
  tertulia::runtime rt{system};
  const auto waiter = define_waiter(rt);
  auto talk = waiter.stream_bidi(tertulia::with_session_id("table seven"));
  std::vector<ai::message> next;
  for (std::string line; !next.empty() || std::getline(std::cin, line);) {
    if (next.empty())
      next.push_back(ai::user_text(line));
    talk.send_messages(std::exchange(next, {}));
    for (const auto& item : talk.responses())
      if (item.chunk) {
        std::cout << item.chunk->text() << std::flush;
        for (const auto& question : ai::interrupts_in(item.chunk->content))
          next.push_back(ask(question));
      }
    std::cout << '\n';
  }
  talk.close();
  std::cout << talk.output().state.messages.size() << " messages\n";
}
// --(terminal-end)--
