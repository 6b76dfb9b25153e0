// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/open.hpp>
#include <tertulia/protocol.hpp>
#include <tertulia/turn.hpp>

#include <caf/event_based_actor.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "row.hpp"
#include "stage.hpp"

namespace tertulia::bench {

/// An actor client that receives the number of operations to run.
using client_actor = chunk_sink::extend<
  caf::replies_to<caf::ping_atom, std::uint64_t>::with<void>>;

/// Creates the message that opens a connection for a sink.
using opener = std::function<open_request(chunk_sink)>;

template <class Flow>
opener opener_of(const Flow& flow) {
  return
    [flow](chunk_sink client) { return flow.opening_for(std::move(client)); };
}

/// Common base of actor clients: one connection at a time, its credit in both
/// directions, and a check that no chunk is missing.
///
/// Written like an application that uses the protocol without our facades.
class client_state {
public:
  static inline const char* name = "bench.client";

  explicit client_state(client_actor::pointer self) : self_(self) {}

  client_state(const client_state&) = delete;
  client_state& operator=(const client_state&) = delete;
  virtual ~client_state() = default;

  client_actor::behavior_type make_behavior(stage& bench_stage, opener opening);

protected:
  // -- hooks of a question ----------------------------------------------------

  /// Starts a sample of the given number of operations.
  virtual void on_start(std::uint64_t operations) = 0;

  virtual void on_opened() = 0;

  virtual void on_chunks(chunk_batch&) {}

  virtual void on_turn_end() {}

  virtual void on_finished() {
    line_->fail("a conversation ended too early");
  }

  // -- actions ----------------------------------------------------------------

  void connect();

  /// Sends one input, together with the credit for the chunks read so far.
  /// Without input credit, the input is sent when credit arrives.
  void say(payload value);

  /// Grants credit for the chunks read, once they are half a window.
  void grant();

  void close();

  void arrive() {
    line_->arrive();
  }

  void fail(std::string reason) {
    line_->fail(std::move(reason));
  }

private:
  void gain(std::uint32_t inputs);

  client_actor::pointer self_;
  finish_line* line_ = nullptr;
  front_desk_actor desk_;
  opener opening_;
  connection_actor connection_;
  std::uint32_t window_ = 0;
  std::uint32_t read_ = 0; // chunks read but not granted again yet
  std::uint32_t input_credit_ = 0;
  std::uint64_t next_ = 0; // number of the next chunk or end of a turn
  payload unsent_;         // waits for credit
};

/// Runs all operations on one connection, which stays open. A sample of zero
/// operations opens it.
class staying_client : public client_state {
public:
  using client_state::client_state;

protected:
  /// Starts the next operations.
  virtual void next() = 0;

  /// Returns the operations of the sample that are left.
  std::uint64_t left() const {
    return left_;
  }

  /// Ends operations of the sample, and starts the next ones if any are left.
  void end(std::uint64_t operations = 1) {
    left_ -= operations;
    if (left_ == 0)
      arrive();
    else
      next();
  }

private:
  void on_start(std::uint64_t operations) final {
    left_ = operations;
    if (left_ == 0)
      connect();
    else
      next();
  }

  void on_opened() final {
    arrive();
  }

  std::uint64_t left_ = 0;
};

/// Opens a connection for each operation. Derived classes close it.
class returning_client : public client_state {
public:
  using client_state::client_state;

private:
  void on_start(std::uint64_t operations) final {
    left_ = operations;
    connect();
  }

  void on_finished() final {
    if (--left_ == 0)
      arrive();
    else
      connect();
  }

  std::uint64_t left_ = 0;
};

/// Spawns a client with that state.
/// @lifetime must not outlive the stage.
template <class State>
client_actor spawn_client(stage& bench_stage, opener opening) {
  return bench_stage.system.spawn(
    [&bench_stage](client_actor::stateful_pointer<State> self, opener opening) {
      return self->state.make_behavior(bench_stage, std::move(opening));
    },
    std::move(opening));
}

/// Spawns the raw counterpart of a client, which is started by the same
/// message.
/// @lifetime must not outlive the stage.
template <class State>
caf::actor spawn_raw_client(stage& bench_stage) {
  return bench_stage.system.spawn(
    [&bench_stage](caf::stateful_actor<State>* self) {
      return self->state.make_behavior(bench_stage.line);
    });
}

/// Distributes the operations among clients, and those of the baseline among
/// their raw counterparts.
class client_question : public question {
public:
  double ours(std::size_t operations) override {
    return time_each(stage_, clients_, operations);
  }

  double baseline(std::size_t operations) override {
    return time_each(stage_, raw_clients_, operations);
  }

protected:
  template <class State>
  void add_client(opener opening) {
    clients_.push_back(spawn_client<State>(stage_, std::move(opening)));
  }

  template <class State>
  void add_raw_client() {
    raw_clients_.push_back(spawn_raw_client<State>(stage_));
  }

  /// Opens the connections of all `staying_client`s.
  void connect() {
    time_each(stage_, clients_, 0);
  }

  stage stage_;
  std::vector<client_actor> clients_;
  std::vector<caf::actor> raw_clients_;
};

} // namespace tertulia::bench
