// SPDX-License-Identifier: BSD-3-Clause

// An agent whose store is in another process, which is killed in the middle of
// a turn and started again.

#include <tertulia/ai/session_flow.hpp>
#include <tertulia/ask_store.hpp>
#include <tertulia/config.hpp>
#include <tertulia/remote_actor.hpp>
#include <tertulia/remote_store.hpp>
#include <tertulia/sqlite_store.hpp>

#include <csignal>
#include <cstdint>
#include <filesystem>
#include <iostream>
#include <string>
#include <utility>

#include <sys/wait.h>
#include <unistd.h>

namespace ai = tertulia::ai;

// -- the process of the store -------------------------------------------------

/// Publishes the store in a file until the process is killed.
int serve(const std::string& file, std::uint16_t port) {
  tertulia::config cfg;
  add_network_to(cfg, tertulia::transport::plain_for_trusted_hosts);
  caf::actor_system system{cfg};
  // --(store-process-begin)--
  const auto store = tertulia::spawn_sqlite_store(system, file);
  const auto bound = tertulia::publish_actor(system, store, port);
  // --(store-process-end)--
  std::cout << bound << std::endl; // to the parent
  for (;;)
    ::pause();
}

/// This program again, as the process of the store.
class store_process {
public:
  explicit store_process(std::string file) : file_(std::move(file)) {
    start();
  }

  store_process(const store_process&) = delete;
  store_process& operator=(const store_process&) = delete;

  ~store_process() {
    kill();
  }

  /// Starts the process, on the port that it had before.
  void start() {
    int line[2];
    if (::pipe(line) != 0)
      throw tertulia::status_error{tertulia::errc::unavailable, "no pipe"};
    const auto port = std::to_string(port_);
    child_ = ::fork();
    if (child_ == 0) {
      ::dup2(line[1], STDOUT_FILENO);
      ::execl("/proc/self/exe", "store_elsewhere", file_.c_str(), port.c_str(),
              nullptr);
      ::_exit(1);
    }
    ::close(line[1]);
    std::string text;
    for (char c = 0; ::read(line[0], &c, 1) == 1 && c != '\n';)
      text += c;
    ::close(line[0]);
    port_ = static_cast<std::uint16_t>(std::stoi(text));
  }

  void kill() {
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
  }

  [[nodiscard]] std::uint16_t port() const noexcept {
    return port_;
  }

private:
  std::string file_;
  std::uint16_t port_ = 0;
  pid_t child_ = -1;
};

// -- the process of the agent -------------------------------------------------

/// Restarts the process of the store when it is told to, after its answer and
/// before the end of the turn.
auto define_clerk(tertulia::runtime& rt, const tertulia::managed_store& store,
                  store_process& elsewhere) {
  return ai::define_session_flow(
    rt, "clerk",
    [&](tertulia::context ctx, ai::flow_session<int> sess,
        ai::flow_responder<tertulia::nothing> out) -> tertulia::task<> {
      co_await sess.run_turns(
        ctx,
        [&](tertulia::context inner,
            const ai::conversation_input& input) -> tertulia::task<> {
          co_await sess.patch_custom([](int& x) { ++x; });
          co_await out.send_text("noted");
          if (input.messages.back().text() == "kill the store")
            co_await inner.run_blocking([&] {
              elsewhere.kill();
              elsewhere.start();
            });
        });
    },
    tertulia::with_snapshot_store(store));
}

int main(int argc, char** argv) {
  if (argc == 3)
    return serve(argv[1], static_cast<std::uint16_t>(std::stoi(argv[2])));
  const auto file = std::filesystem::temp_directory_path()
                    / ("store_elsewhere-" + std::to_string(::getpid()) + ".db");
  store_process elsewhere{file.string()};
  tertulia::config cfg;
  add_network_to(cfg, tertulia::transport::plain_for_trusted_hosts);
  caf::actor_system system{cfg};
  tertulia::runtime rt{system};
  const auto port = elsewhere.port();
  // --(agent-process-begin)--
  const auto store = tertulia::connect_store(system, "127.0.0.1", port);
  const auto clerk = define_clerk(rt, store, elsewhere);
  // --(agent-process-end)--
  const tertulia::with_session_id ledger{"ledger"};
  for (const auto* text : {"first", "second", "kill the store", "fourth"})
    for (auto answered = false; !answered;)
      try {
        const auto said = clerk.run_text(text, ledger);
        std::cout << text << ": " << said.text << ", "
                  << said.output.state.custom << " in all\n";
        answered = true;
      } catch (const tertulia::status_error& x) {
        // The handle connects again by itself, and requests wait until it has:
        // one error at most, for a request that was under way.
        if (x.code() != tertulia::errc::unavailable)
          throw;
      }
  const auto kept
    = tertulia::get_session(system, store, {clerk.info().key, ledger.id});
  std::cout << "the store has " << kept.info.next_turn << " turns\n";
  elsewhere.kill();
  for (const auto* suffix : {"", "-wal", "-shm", "-lock"})
    std::filesystem::remove(file.string() + suffix);
}
