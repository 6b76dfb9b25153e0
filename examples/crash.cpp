// SPDX-License-Identifier: BSD-3-Clause

// A server that dies in the middle of a turn, after a payment and before it has
// said so. The client does not notice, and nobody is paid twice.

#include <tertulia/ai/define_model.hpp>
#include <tertulia/ai/prompt_agent.hpp>
#include <tertulia/ai/session_flow.hpp>
#include <tertulia/ai/tool.hpp>
#include <tertulia/config.hpp>
#include <tertulia/describe.hpp>
#include <tertulia/remote_runtime.hpp>
#include <tertulia/sqlite_store.hpp>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>
#include <thread>
#include <utility>

#include <sys/wait.h>
#include <unistd.h>

using namespace std::literals;

namespace ai = tertulia::ai;
namespace fs = std::filesystem;

// -- the server ---------------------------------------------------------------

struct payment {
  std::string to;
  BOOST_DESCRIBE_CLASS(payment, (), (to), (), ())
};

bool has_line(const fs::path& file, const std::string& line) {
  std::ifstream in{file};
  for (std::string x; std::getline(in, x);)
    if (x == line)
      return true;
  return false;
}

ai::tool define_pay(tertulia::runtime& rt, const fs::path& payments) {
  // --(tool-begin)--
  return ai::define_tool(
    rt, "pay", "Pays a bill.",
    [payments](ai::tool_context ctx, payment x) -> tertulia::task<std::string> {
      const auto line = ctx.call_id() + ' ' + x.to;
      if (!has_line(payments, line)) { // else this call has paid already
        std::ofstream{payments, std::ios::app} << line << std::endl;
        if (x.to == "Bob")
          ::kill(::getpid(), SIGKILL); // of all moments
      }
      co_return "paid " + x.to;
    });
  // --(tool-end)--
}

/// Requests a payment for each name that the user says, and then says what the
/// tool said.
tertulia::task<ai::model_response>
answer(tertulia::context, ai::generate_request request, ai::model_output out) {
  const auto& last = request.messages.back();
  if (last.role == ai::role::user) {
    ai::message wish;
    wish.role = ai::role::model;
    wish.content.push_back(
      ai::part::request("pay", {{"to", last.text()}}, "1"));
    co_return ai::model_response{std::move(wish), ai::finish_reason::stop};
  }
  const auto said
    = last.content.front().as_response()->output.get<std::string>();
  co_await out.send_text(said);
  co_return ai::model_response{ai::model_text(said), ai::finish_reason::stop};
}

void serve(const fs::path& folder, std::uint16_t port, int to_parent) {
  tertulia::config cfg;
  add_network_to(cfg, tertulia::transport::plain_for_trusted_hosts);
  caf::actor_system system{cfg};
  tertulia::runtime rt{system};
  const auto pay = define_pay(rt, folder / "payments");
  const auto model = ai::define_model(rt, "teller", answer);
  ai::define_prompt_agent(
    rt, "teller", ai::prompt{model, ai::with_tools(pay)},
    tertulia::with_snapshot_store(
      tertulia::spawn_sqlite_store(system, (folder / "store.db").string())));
  const auto bound = rt.publish(port);
  if (::write(to_parent, &bound, sizeof bound) == sizeof bound)
    ::pause();
}

/// Server in a process of its own, which is started again when it dies.
class server_process {
public:
  explicit server_process(fs::path folder) : folder_(std::move(folder)) {
    start();
    keeper_ = std::thread{[this] {
      for (int status = 0; ::waitpid(child_, &status, 0) == child_ && !stops_;)
        start();
    }};
  }

  server_process(const server_process&) = delete;
  server_process& operator=(const server_process&) = delete;

  ~server_process() {
    stops_ = true;
    ::kill(child_, SIGKILL);
    keeper_.join();
  }

  [[nodiscard]] std::uint16_t port() const noexcept {
    return port_;
  }

  [[nodiscard]] int starts() const noexcept {
    return starts_;
  }

private:
  void start() {
    int line[2];
    if (::pipe(line) != 0)
      return;
    const auto port = std::to_string(port_);
    const auto to_parent = std::to_string(line[1]);
    child_ = ::fork();
    if (child_ == 0) {
      ::execl("/proc/self/exe", "crash", folder_.c_str(), port.c_str(),
              to_parent.c_str(), nullptr);
      ::_exit(1);
    }
    ::close(line[1]);
    std::uint16_t bound = 0;
    if (::read(line[0], &bound, sizeof bound) == sizeof bound)
      port_ = bound;
    ::close(line[0]);
    ++starts_;
  }

  fs::path folder_;
  std::atomic<std::uint16_t> port_ = 0;
  std::atomic<pid_t> child_ = -1;
  std::atomic<int> starts_ = 0;
  std::atomic<bool> stops_ = false;
  std::thread keeper_;
};

// -- the client ---------------------------------------------------------------

int main(int argc, char** argv) {
  if (argc == 4) {
    serve(argv[1], static_cast<std::uint16_t>(std::stoi(argv[2])),
          std::stoi(argv[3]));
    return 0;
  }
  const auto folder
    = fs::temp_directory_path() / ("crash-" + std::to_string(::getpid()));
  fs::create_directory(folder);
  {
    const server_process server{folder};
    const auto port = server.port();
    tertulia::config cfg;
    add_network_to(cfg, tertulia::transport::plain_for_trusted_hosts);
    caf::actor_system system{cfg};
    // --(client-begin)--
    const tertulia::remote_runtime there{
      system, {tertulia::endpoint{"127.0.0.1", port}}};
    using teller_type = ai::session_flow<tertulia::nothing, tertulia::nothing>;
    const auto teller = there.action<teller_type>("/session-flow/teller");
    auto talk = teller.stream_bidi(tertulia::with_session_id("bills"),
                                   tertulia::with_keep(1h));
    for (const auto* name : {"Ann", "Bob", "Cid"}) {
      talk.send_text(name);
      for (const auto& item : talk.responses())
        if (item.chunk)
          std::cout << item.chunk->text();
      std::cout << '\n';
    }
    // --(client-end)--
    talk.close();
    static_cast<void>(talk.output());
    std::cout << "the server was started " << server.starts() << " times\n";
  }
  std::ifstream in{folder / "payments"};
  std::string line;
  int payments = 0;
  while (std::getline(in, line))
    ++payments;
  std::cout << payments << " payments\n";
  fs::remove_all(folder);
}
