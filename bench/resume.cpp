// SPDX-License-Identifier: BSD-3-Clause

// Measures how long it takes to resume from a snapshot of 10 000 messages, in
// memory and on disk: open, and close without a turn. Also measures the memory
// that the memory store keeps for each further snapshot of such a conversation,
// including the two messages of 200 bytes that each turn adds. Baselines: a
// round trip, and an actor, in raw CAF.

#include <tertulia/memory_store.hpp>
#include <tertulia/sqlite_store.hpp>

#include "conversation.hpp"
#include "memory.hpp"
#include "raw_echo.hpp"
#include "row.hpp"
#include "store_access.hpp"

namespace tertulia::bench {

namespace {

constexpr std::size_t long_history = 10'000;

/// Opens and closes connections.
class resuming_client : public returning_client {
public:
  using returning_client::returning_client;

private:
  void on_opened() override {
    close();
  }
};

struct in_memory {
  managed_store open(caf::actor_system& system) {
    return spawn_memory_store(system);
  }
};

struct on_disk {
  managed_store open(caf::actor_system& system) {
    return spawn_sqlite_store(system, folder / "sessions.db");
  }

  scratch folder;
};

/// Resumes, in a store that has one conversation with a history.
template <class Store, class Client = resuming_client>
class resume : private Store, public client_question {
public:
  resume() {
    const auto flow
      = ai::define_session_flow(stage_.rt, "chat", chat_flow,
                                with_snapshot_store(Store::open(stage_.system)),
                                with_client_states{});
    auto talk = flow.stream_bidi(ai::with_state{history(long_history)});
    talk.send_text(utterance());
    for ([[maybe_unused]] const auto& x : talk.responses())
      ;
    talk.close();
    add_client<Client>(
      [flow, last = talk.output().snapshot_id](chunk_sink client) {
        return flow.opening_for(std::move(client), with_snapshot_id{last});
      });
    add_raw_client<raw_echo_client<std::string>>();
  }
};

class kept final : public resume<in_memory, visiting_client> {
public:
  double ours(std::size_t operations) override {
    trim_memory();
    const auto before = allocated_bytes();
    time_each(stage_, clients_, operations);
    return (allocated_bytes() - before) / static_cast<double>(operations);
  }

  double baseline(std::size_t operations) override {
    const auto before = allocated_bytes();
    std::vector<caf::actor> actors;
    for (std::size_t i = 0; i < operations; ++i)
      actors.push_back(stage_.system.spawn(raw_echo<std::string>));
    return (allocated_bytes() - before) / static_cast<double>(operations);
  }
};

const enrol rows_of_resume[] = {
  enrol{{.name = "resume_memory_10000",
         .promise = target::at_most(1'000),
         .operations = 500,
         .smoke_operations = 10,
         .make = make_question<resume<in_memory>>}},
  enrol{{.name = "resume_sqlite_10000",
         .promise = target::at_most(50'000),
         .operations = 5,
         .smoke_operations = 1,
         .samples = 11,
         .make = make_question<resume<on_disk>>}},
  enrol{{.name = "kept_per_snapshot_10000",
         .unit = "bytes",
         .promise = target::at_most(2'048),
         .operations = 2'000,
         .samples = 5,
         .make = make_question<kept>}},
};

} // namespace

} // namespace tertulia::bench
