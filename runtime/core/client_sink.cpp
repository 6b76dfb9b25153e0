// SPDX-License-Identifier: BSD-3-Clause

#include "client_sink.hpp"

#include <tertulia/detail/blocking_client.hpp>
#include <tertulia/detail/client_end.hpp>
#include <tertulia/detail/decline.hpp>
#include <tertulia/detail/remote_desk.hpp>
#include <tertulia/detail/return_path.hpp>
#include <tertulia/detail/timer.hpp>
#include <tertulia/detail/without_clock.hpp>

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <memory>
#include <utility>

namespace tertulia::detail {

namespace {

/// State of the sink of one blocking client.
class sink_state {
public:
  static inline const char* name = "tertulia.client";

  explicit sink_state(chunk_sink::pointer self) : self_(self) {}

  /// Ends every wait for messages that can no longer arrive, however the sink
  /// ends.
  ~sink_state() {
    if (client_)
      client_->on_lost(
        fail(errc::unavailable, "the receiver of the connection has ended"));
    if (time_out_is_set_) // the actor is one without a clock
      self_->clock().cancel_timeouts(self_);
  }

  chunk_sink::behavior_type
  make_behavior(std::shared_ptr<blocking_client> client,
                const front_desk_actor& desk, open_request question,
                std::shared_ptr<remote_desk> remote) {
    client_ = std::move(client);
    if (remote)
      return_ = std::make_unique<return_path>(std::move(remote), question);
    self_->set_down_handler([this](caf::down_msg& x) { on_down(x); });
    question.client = self_;
    open(desk, std::move(question));
    return {
      [this](chunk_batch& x) { client_->on(std::move(x)); },
      [this](input_credit x) { client_->on(x); },
      [this](turn_end& x) { client_->on(std::move(x)); },
      [this](completion& x) -> caf::result<void> {
        if (return_ && return_->is_active())
          return return_path::refusal();
        if (client_->on(std::move(x)))
          self_->quit(); // after this answer
        return caf::unit;
      },
    };
  }

private:
  /// Opens the connection, which is monitored.
  void open(const front_desk_actor& desk, open_request question) {
    // A connection of this process limits its opening itself, without the clock
    // of CAF, which costs more than the rest of an opening. For another node:
    // CAF does not answer a request to one that is lost.
    caf::duration within{caf::infinite};
    if (desk.node() != self_->node()) {
      within = for_request(question.options.open_within);
      time_out_is_set_ = true;
      self_->monitor(desk);
    }
    self_->request(desk, within, std::move(question))
      .then(
        [this, from = desk.address()](const open_result& x) {
          // The desk outlives the sink and must not keep its monitor.
          self_->demonitor(from);
          self_->monitor(x.connection);
          client_->on_opened(x, x.connection.node() != self_->node());
        },
        [this, from = desk.address()](caf::error& reason) {
          self_->demonitor(from);
          lose(std::move(reason));
        });
  }

  void on_down(const caf::down_msg& x) {
    if (!return_ || !return_->is_active())
      begin_to_return(lost_connection(x.reason));
  }

  void lose(caf::error reason) {
    client_->on_lost(std::move(reason));
    self_->quit();
  }

  // -- coming back ------------------------------------------------------------

  /// Looks for the run again, if it may still be there.
  void begin_to_return(const caf::error& reason) {
    if (!return_ || !return_path::may_pass(reason)
        || !client_->question(*return_))
      return lose(reason);
    return_->begin();
    look_for_desk(reason);
  }

  void look_for_desk(const caf::error& reason) {
    // The guide answers each request.
    self_->request(return_->guide(), caf::infinite, caf::connect_atom_v, reason)
      .then(
        [this](const caf::actor& found) {
          return_->found(found);
          ask_again();
        },
        [this](caf::error& failure) { lose(std::move(failure)); });
  }

  void ask_again() {
    auto question = client_->question(*return_);
    if (!question)
      return self_->quit(); // it has ended meanwhile
    question->client = self_;
    // The first of these answers counts.
    const auto fail_once
      = [this, attempt = return_->attempt()](const caf::error& reason) {
          if (attempt == return_->attempt())
            fail_to_return(reason);
        };
    self_->request(return_->desk(), caf::infinite, std::move(*question))
      .then(
        [this, attempt = return_->attempt()](const open_result& x) {
          if (attempt == return_->attempt())
            on_returned(x);
          else
            decline(x, return_->is_active());
        },
        fail_once);
    self_->request(return_->guide(), caf::infinite, caf::monitor_atom_v)
      .then([](caf::ok_atom) {}, fail_once);
  }

  void on_returned(const open_result& x) {
    self_->monitor(x.connection);
    const auto reopens = return_->reopens();
    return_->end();
    if (!client_->on_returned(x, reopens))
      self_->quit();
  }

  /// Tries again, or gives up.
  void fail_to_return(const caf::error& reason) {
    switch (client_->after_failure(*return_, reason)) {
      case return_path::step::asks_again: return ask_again();
      case return_path::step::looks_on: return look_for_desk(reason);
      default: return lose(reason);
    }
  }

  chunk_sink::pointer self_;
  std::shared_ptr<blocking_client> client_;
  std::unique_ptr<return_path> return_; ///< null for an action of this process
  bool time_out_is_set_ = false;        ///< in CAF's clock, for another node
};

} // namespace

void spawn_client_sink(caf::actor_system& system,
                       std::shared_ptr<blocking_client> client,
                       const front_desk_actor& desk, open_request question,
                       std::shared_ptr<remote_desk> remote) {
  system.spawn<caf::hidden>(
    [](stateful_without_clock<chunk_sink, sink_state>* self,
       std::shared_ptr<blocking_client> client, const front_desk_actor& desk,
       open_request question, std::shared_ptr<remote_desk> remote) {
      return self->state.make_behavior(std::move(client), desk,
                                       std::move(question), std::move(remote));
    },
    std::move(client), desk, std::move(question), std::move(remote));
}

} // namespace tertulia::detail
