// SPDX-License-Identifier: BSD-3-Clause

// An echo flow on the terminal, one line a turn. Also reads from a pipe:
//
//   printf 'hello\nworld\n' | echo_terminal

#include <tertulia/runtime.hpp>

#include <exception>
#include <iostream>
#include <string>

#include <CLI/CLI.hpp>
#include <unistd.h>

namespace {

tertulia::task<std::string> echo(tertulia::context,
                                 tertulia::input<std::string> in,
                                 tertulia::output<std::string> out) {
  int count = 0;
  while (auto text = co_await in.next()) {
    ++count;
    co_await out.send("echo: " + *text);
    co_await out.end_turn();
  }
  co_return "processed " + std::to_string(count)
    + (count == 1 ? " message" : " messages");
}

void converse(bool quiet) {
  tertulia::config cfg;
  caf::actor_system system{cfg};
  tertulia::runtime rt{system};
  auto talk = rt.define_bidi_flow("echo", echo).stream_bidi();

  const auto interactive = ::isatty(STDIN_FILENO) != 0 && !quiet;
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
  std::cout << talk.output() << '\n';
}

} // namespace

int main(int argc, char** argv) {
  CLI::App app{"Echoes what you say, one line a turn, through a bidi flow."};
  auto quiet = false;
  app.add_flag("-q,--quiet", quiet, "print nothing but the answers");
  CLI11_PARSE(app, argc, argv);
  try {
    converse(quiet);
  } catch (const tertulia::status_error& error) {
    std::cerr << "echo_terminal: " << tertulia::to_string(error.code()) << ": "
              << error.message() << '\n';
    return 1;
  }
}
