// SPDX-License-Identifier: BSD-3-Clause

// Measures the cost of a token in a chat with a model's server, while a server
// on this machine answers a thousand chats at once. A chat is an agent, a call
// of its model, and a connection; each token arrives separately. Reports CPU
// time without that of the server. Baseline: a round trip in raw CAF, in
// wall-clock time.

#include <tertulia/ai/openai_model.hpp>
#include <tertulia/ai/prompt_agent.hpp>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "client.hpp"
#include "conversation.hpp"
#include "crowd.hpp"
#include "memory.hpp"
#include "raw_echo.hpp"
#include "row.hpp"
#include "token_server.hpp"
#include <sys/resource.h>

namespace tertulia::bench {

namespace {

constexpr std::size_t chats = 1'000;

/// One for requests and one for name resolution.
constexpr double most_threads = 2;

/// Tokens of an answer: fewer than the window, so that the client need not
/// grant credit.
constexpr std::size_t max_tokens = 50;

/// Raises the limit of open files, because each chat has a socket at both ends.
void allow_many_sockets() {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  const rlim_t wanted = 2 * chats + 1'000;
  if (limit.rlim_cur >= wanted)
    return;
  limit.rlim_cur = std::min(wanted, limit.rlim_max);
  if (setrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur < wanted)
    throw std::runtime_error{"too few files may be open: see ulimit -n"};
}

double thread_count() {
  std::ifstream in{"/proc/self/status"};
  for (std::string word; in >> word;)
    if (word == "Threads:") {
      double result = 0;
      in >> result;
      return result;
    }
  return 0;
}

/// Counts each token and the end of each answer as an arrival.
class listeners : public crowd_state {
public:
  using crowd_state::crowd_state;

private:
  void on_chunks(chunk_batch& x) override {
    const auto* received = x.items.get_if<chunks<ai::stream_chunk<nothing>>>();
    for (const auto& item : *received)
      if (item.chunk)
        arrive();
  }

  void on_turn_end() override {
    arrive();
  }
};

class model_chats final : public question {
public:
  model_chats() {
    allow_many_sockets();
    server_.emplace(2 * chats);
    ai::openai_options options;
    options.model = "bench";
    options.base_url = server_->url();
    const auto agent = ai::define_prompt_agent(
      stage_.rt, "chat",
      ai::prompt{ai::define_openai_model(stage_.rt, "server", options)});
    listeners_
      = spawn_crowd<listeners>(stage_, opener_of(agent), one_message(), chats);
    raw_client_.push_back(
      spawn_raw_client<raw_echo_client<std::string>>(stage_));
  }

  double ours(std::size_t operations) override {
    const auto tokens = operations / chats;
    if (tokens > max_tokens)
      throw std::logic_error{"an answer has too many tokens"};
    trim_memory();
    const auto allocated = allocated_bytes();
    const auto resident = resident_bytes();
    const auto threads = thread_count();
    each([this] {
      caf::anon_send(listeners_, caf::ping_atom_v, std::uint64_t{chats});
    });
    const auto per_chat = [](double x) { return x / chats; };
    memory_ = std::max(memory_, per_chat(allocated_bytes() - allocated));
    resident_ = std::max(resident_, per_chat(resident_bytes() - resident));
    threads_ = std::max(threads_, thread_count() - threads);
    if (threads_ > most_threads)
      throw std::logic_error{"chats have threads: " + std::to_string(threads_)};
    const auto spent
      = [this] { return cpu_microseconds() - server_->cpu_microseconds(); };
    const auto before = spent();
    double waited = 0;
    for (std::size_t i = 0; i < tokens; ++i)
      waited += each([this] { server_->send_token(); });
    const auto cost = spent() - before;
    each([this] { server_->send_end(); });
    each([this] { caf::anon_send(listeners_, caf::close_atom_v); });
    const auto all = static_cast<double>(tokens * chats);
    waited_ = waited / all;
    return cost / all;
  }

  double baseline(std::size_t operations) override {
    return time_each(stage_, raw_client_, operations);
  }

  std::vector<fact> facts() const override {
    return {{"memory", "bytes", memory_},
            {"resident", "bytes", resident_},
            {"threads", "", threads_},
            {"wall", "us", waited_}};
  }

private:
  /// Waits until each chat has arrived once.
  /// @returns the duration in microseconds.
  template <class Start>
  double each(Start start) {
    stage_.line.start(chats);
    start();
    return stage_.line.wait();
  }

  std::optional<token_server> server_; // outlives its clients
  stage stage_;
  crowd_actor listeners_;
  std::vector<caf::actor> raw_client_;
  double memory_ = 0;
  double resident_ = 0;
  double threads_ = 0;
  double waited_ = 0;
};

const enrol model_chats_row{{.name = "model_chats",
                             .operations = max_tokens * chats,
                             .smoke_operations = 2 * chats,
                             .samples = 5,
                             .make = make_question<model_chats>}};

} // namespace

} // namespace tertulia::bench
