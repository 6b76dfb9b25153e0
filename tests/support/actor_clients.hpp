// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/actor_client.hpp>

#include <caf/event_based_actor.hpp>
#include <caf/stateful_actor.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "support/flows.hpp"

namespace tertulia::test {

template <class Flow>
struct record {
  std::vector<typename Flow::stream_type> chunks;
  std::vector<typename Flow::out_type> outputs;
  std::vector<status_error> errors;
  int opened = 0;
  int turns = 0;
  int downs = 0; ///< down messages of the application
  caf::actor connection;
};

/// Client that records everything, and does what the test wants.
template <class Flow>
struct recorder : actor_client<Flow> {
  using actor_client<Flow>::actor_client;

  void on_open(const open_result&) override {
    ++log->opened;
  }

  void on_credit() override {
    if (with_credit)
      with_credit(*this);
  }

  void on_chunk(typename Flow::stream_type& x) override {
    log->connection
      = caf::actor_cast<caf::actor>(this->self()->current_sender());
    log->chunks.push_back(std::move(x));
    if (with_chunk)
      with_chunk(*this);
  }

  void on_turn_end() override {
    ++log->turns;
  }

  void on_output(typename Flow::out_type& x) override {
    log->outputs.push_back(std::move(x));
    at_end(*this);
  }

  void on_error(const status_error& x) override {
    log->errors.push_back(x);
    at_end(*this);
  }

  std::shared_ptr<record<Flow>> log;
  std::function<void(recorder&)> with_credit;
  std::function<void(recorder&)> with_chunk;
  std::function<void(recorder&)> at_end;
};

template <class Flow>
caf::behavior record_all(caf::stateful_actor<recorder<Flow>>* self,
                         std::shared_ptr<record<Flow>> log) {
  self->set_down_handler([log](const caf::down_msg&) { ++log->downs; });
  self->state.at_end = [self](auto&) { self->quit(); };
  self->state.log = std::move(log);
  return self->state.handlers().or_else(
    [self](caf::tick_atom) { self->state.resume(); });
}

/// Actor whose state a test uses between the messages.
template <class State>
struct actor_of {
  State& operator*() const {
    return static_cast<caf::stateful_actor<State>*>(
             caf::actor_cast<caf::abstract_actor*>(who))
      ->state;
  }

  State* operator->() const {
    return &**this;
  }

  caf::actor who;
};

/// Actor with a client that records everything.
template <class Flow>
struct client_of : actor_of<recorder<Flow>> {
  explicit client_of(caf::actor_system& system,
                     std::shared_ptr<record<Flow>> log
                     = std::make_shared<record<Flow>>())
    : actor_of<recorder<Flow>>{system.spawn(record_all<Flow>, log)},
      log(std::move(log)) {}

  std::shared_ptr<record<Flow>> log;
};

/// Two clients of one actor.
template <class Flow>
struct two_clients {
  explicit two_clients(caf::event_based_actor* self)
    : first(self), second(self) {}

  caf::message_handler handlers() {
    return {
      [this](chunk_batch& x) {
        first.handle(x);
        second.handle(x);
      },
      [this](const input_credit& x) {
        first.handle(x);
        second.handle(x);
      },
      [this](turn_end& x) {
        first.handle(x);
        second.handle(x);
      },
      [this](completion& x) {
        static_cast<void>(first.handle(x));
        static_cast<void>(second.handle(x));
      },
    };
  }

  recorder<Flow> first;
  recorder<Flow> second;
};

using text_flow = bidi_flow<nothing, std::string, std::string, std::string>;

/// Client that does nothing at the end.
struct silent_client : actor_client<text_flow> {
  using actor_client::actor_client;
  void on_chunk(std::string&) override {}
};

struct actor_client_of : flows {
  /// Answers each input with three chunks in a turn.
  text_flow define_thrice() {
    return define([](context, input<std::string> in,
                     output<std::string> out) -> task<std::string> {
      while (auto text = co_await in.next()) {
        for (const auto* mark : {".", "!", "?"})
          co_await out.send(*text + mark);
        co_await out.end_turn();
      }
      co_return "bye";
    });
  }

  /// Sleeps for an hour, and reads no input.
  text_flow define_sleeper() {
    return define([](context ctx, input<std::string>,
                     output<std::string>) -> task<std::string> {
      co_await ctx.sleep(std::chrono::hours{1});
      co_return "slept";
    });
  }

  client_of<text_flow> spawn() {
    return client_of<text_flow>{system};
  }

  /// Spawns an actor with two clients.
  actor_of<two_clients<text_flow>>
  spawn_two(const std::shared_ptr<record<text_flow>>& first,
            const std::shared_ptr<record<text_flow>>& second) {
    actor_of<two_clients<text_flow>> result{system.spawn(
      [](caf::stateful_actor<two_clients<text_flow>>* self) -> caf::behavior {
        return self->state.handlers();
      })};
    run();
    result->first.log = first;
    result->second.log = second;
    result->first.at_end = result->second.at_end = [](auto&) {};
    return result;
  }

  template <class... Options>
  client_of<text_flow>
  open_client(const text_flow& flow, const Options&... options) {
    auto result = spawn();
    run();
    flow.open(*result, options...);
    return result;
  }
};

} // namespace tertulia::test
