// SPDX-License-Identifier: BSD-3-Clause

// An echo on the terminal, one line per turn. Also reads from a pipe:
//
//   printf 'hello\nworld\n' | echo_terminal --store conversation.db
//
// With a store it continues the last conversation, even after `kill -9`.

#include <tertulia/define_agent.hpp>
#include <tertulia/describe.hpp>
#include <tertulia/memory_store.hpp>
#include <tertulia/runtime.hpp>
#include <tertulia/sqlite_store.hpp>

#include <iostream>
#include <string>

#include <CLI/CLI.hpp>
#include <unistd.h>

namespace {

struct memory {
  int said = 0;
};

BOOST_DESCRIBE_STRUCT(memory, (), (said))

tertulia::task<std::string> echo(tertulia::context,
                                 tertulia::agent_session<memory> mine,
                                 tertulia::input<std::string> in,
                                 tertulia::agent_responder<std::string> out) {
  auto remembered = co_await mine.state();
  while (auto text = co_await in.next()) {
    ++remembered.said;
    co_await mine.update_state(remembered);
    co_await out.send(std::to_string(remembered.said) + ": " + *text);
    co_await out.end_turn();
  }
  co_return std::to_string(remembered.said)
    + (remembered.said == 1 ? " message" : " messages") + " so far";
}

struct options {
  std::string store;
  std::string session = "terminal";
  bool quiet = false;
};

void converse(const options& said) {
  tertulia::config cfg;
  caf::actor_system system{cfg};
  tertulia::runtime rt{system};
  const auto store = said.store.empty()
                       ? tertulia::spawn_memory_store(system)
                       : tertulia::spawn_sqlite_store(system, said.store);
  auto talk = tertulia::define_agent(rt, "echo", echo,
                                     tertulia::with_snapshot_store(store))
                .stream_bidi(tertulia::with_session_id(
                  tertulia::session_id{said.session}));

  const auto interactive = ::isatty(STDIN_FILENO) != 0 && !said.quiet;
  if (interactive)
    std::cerr << "Say something; Ctrl-D ends.\n";
  for (std::string line;;) {
    if (interactive)
      std::cerr << "> " << std::flush;
    if (!std::getline(std::cin, line))
      break;
    talk.send(line);
    for (const auto& chunk : talk.responses())
      std::cout << chunk << std::endl;
  }
  talk.close();
  std::cout << talk.output().output << '\n';
}

} // namespace

int main(int argc, char** argv) {
  CLI::App app{"Echoes what you say, one numbered line a turn, as an agent."};
  options said;
  app.add_option("-s,--store", said.store,
                 "file in which the conversation is kept; made if it is not "
                 "there");
  app.add_option("--session", said.session, "name of the conversation")
    ->capture_default_str();
  app.add_flag("-q,--quiet", said.quiet, "print nothing but the answers");
  CLI11_PARSE(app, argc, argv);
  try {
    converse(said);
  } catch (const tertulia::status_error& error) {
    std::cerr << "echo_terminal: " << tertulia::to_string(error.code()) << ": "
              << error.message() << '\n';
    return 1;
  }
}
