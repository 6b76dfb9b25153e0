// SPDX-License-Identifier: BSD-3-Clause

// Offers an agent whose tool has an effect on a port, which it prints, and
// kills itself after a time: `mortal_server PORT DATABASE EFFECTS LIFETIME`.
// The time is in microseconds; 0 for ever. Each effect is a line of the file
// EFFECTS: the name of the call, and its input. A run that dies with the server
// expires soon.

#include <tertulia/ai/define_model.hpp>
#include <tertulia/ai/prompt_agent.hpp>
#include <tertulia/runtime.hpp>
#include <tertulia/sqlite_store.hpp>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <string>
#include <thread>

#include "support/child_program.hpp"
#include "support/network_config.hpp"
#include <fcntl.h>
#include <unistd.h>

namespace tertulia::test::mortal_server_process {

namespace {

struct errand {
  std::string what;
  BOOST_DESCRIBE_CLASS(errand, (), (what), (), ())
};

/// Requests the tool twice for each text of the user, one after the other, and
/// then says that all is done.
task<ai::model_response> answer(context, ai::generate_request request,
                                ai::model_output out) {
  std::size_t answers = 0; // since the user's text
  std::string text;
  for (auto log = request.messages; text.empty();
       log = log.prefix(log.size() - 1)) {
    if (log.back().role == ai::role::user)
      text = log.back().text();
    else if (log.back().role == ai::role::model)
      ++answers;
  }
  const auto is_over = answers == 2;
  auto said = ai::model_text(is_over ? "done: " + text : "one moment");
  co_await out.send_text(said.text());
  if (!is_over)
    said.content.push_back(ai::part::request(
      "do", {{"what", text + (answers == 0 ? "a" : "b")}}, "r"));
  co_return ai::model_response{std::move(said), ai::finish_reason::stop};
}

bool has_line(const std::string& path, const std::string& line) {
  std::ifstream in{path};
  for (std::string x; std::getline(in, x);)
    if (x == line)
      return true;
  return false;
}

void append_line(const std::string& path, const std::string& line) {
  const auto text = line + '\n';
  const auto file
    = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (file < 0
      || ::write(file, text.data(), text.size())
           != static_cast<ssize_t>(text.size()))
    throw status_error{errc::internal, "the effect is not written"};
  ::close(file);
}

void run(int, char** argv) {
  const std::string effects = argv[3];
  network_config cfg;
  caf::actor_system system{cfg};
  runtime_options options;
  options.run_heartbeat = std::chrono::milliseconds{200};
  runtime rt{system, options};
  const auto store = spawn_sqlite_store(system, argv[2]);
  const auto act = ai::define_tool(
    rt, "do", "", [effects](ai::tool_context ctx, errand x) -> task<bool> {
      // A call that runs again finds its own line.
      const auto line = ctx.call_id() + ' ' + x.what;
      const auto is_new = !has_line(effects, line);
      if (is_new)
        append_line(effects, line);
      co_return is_new;
    });
  const auto model = ai::define_model(rt, "clerk", answer);
  ai::define_prompt_agent(rt, "clerk", ai::prompt{model, ai::with_tools(act)},
                          with_snapshot_store(store));
  std::cout << rt.publish(static_cast<std::uint16_t>(std::stoi(argv[1])))
            << std::endl;
  if (const std::chrono::microseconds lifetime{std::stoll(argv[4])};
      lifetime.count() > 0)
    std::this_thread::sleep_for(lifetime);
  else
    ::pause();
  ::kill(::getpid(), SIGKILL);
}

const child_program program{"mortal_server", run};

} // namespace

} // namespace tertulia::test::mortal_server_process
