// SPDX-License-Identifier: BSD-3-Clause

// Continues conversations in a store file, all at the same time, until it is
// killed: a flow from each snapshot in the arguments, or a new one for "-", and
// the session "s" of an agent that counts. Prints each step before it is taken,
// and then the results that clients have received:
// "count <n>", or "<flow> <id>".

#include <tertulia/ai/session_flow.hpp>
#include <tertulia/define_agent.hpp>
#include <tertulia/sqlite_store.hpp>

#include <iostream>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "support/child_program.hpp"

namespace tertulia::test::turns_on_disk_process {

namespace {

task<> note(context ctx, ai::flow_session<int> mine,
            ai::flow_responder<nothing>) {
  co_await mine.run_turns(
    ctx, [&](context, const ai::conversation_input&) -> task<> {
      co_await mine.patch_custom([](int& x) { ++x; });
      co_await mine.add_messages(ai::model_text("noted"));
    });
}

task<> count(context, agent_session<int> mine, input<std::string> in,
             agent_responder<int> out) {
  while (const auto input = co_await in.next()) {
    const auto reached = co_await mine.state() + 1;
    co_await mine.update_state(reached);
    co_await out.send(reached);
    co_await out.end_turn();
  }
}

class printer {
public:
  void print(const std::string& line) {
    const std::lock_guard guard{mutex_};
    std::cout << line << std::endl;
  }

private:
  std::mutex mutex_;
};

void run(int argc, char** argv) {
  printer out;
  out.print("starts");
  config cfg;
  caf::actor_system system{cfg};
  runtime rt{system};
  out.print("opens");
  const auto store = spawn_sqlite_store(system, argv[1]);
  out.print("is open");
  const auto notes
    = ai::define_session_flow(rt, "notes", note, with_snapshot_store(store));
  const auto counter
    = define_agent(rt, "counter", count, with_snapshot_store(store),
                   with_snapshot_callback(snapshot_always{}));

  std::vector<std::thread> clients;
  for (int i = 2; i < argc; ++i)
    clients.emplace_back(
      [&, name = std::to_string(i - 2) + ' ', from = std::string{argv[i]}] {
        auto talk = from == "-"
                      ? notes.stream_bidi()
                      : notes.stream_bidi(with_snapshot_id(snapshot_id{from}));
        for (;;) {
          talk.send_text("one more");
          for (const auto& x : talk.responses())
            if (!x.snapshot_created.empty())
              out.print(name + x.snapshot_created.str());
        }
      });
  auto talk = counter.stream_bidi(with_session_id("s"));
  for (;;) {
    talk.send("one more");
    for (const auto x : talk.responses())
      out.print("count " + std::to_string(x));
  }
}

const child_program program{"turns_on_disk", run};

} // namespace

} // namespace tertulia::test::turns_on_disk_process
