// SPDX-License-Identifier: BSD-3-Clause

#include "client_sink.hpp"

#include <tertulia/detail/blocking_client.hpp>
#include <tertulia/detail/client_end.hpp>
#include <tertulia/detail/decline.hpp>
#include <tertulia/detail/remote_desk.hpp>
#include <tertulia/detail/return_path.hpp>
#include <tertulia/detail/timer.hpp>

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <cstdint>
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
    const auto within = for_request(question.options.open_within);
    ask(
      desk, within, std::move(question),
      [this](const open_result& x) {
        client_->on_opened(x, x.connection.node() != self_->node());
      },
      [this](caf::error& reason) { lose(std::move(reason)); });
    return {
      [this](chunk_batch& x) { client_->on(std::move(x)); },
      [this](input_credit x) { client_->on(x); },
      [this](turn_end& x) { client_->on(std::move(x)); },
      [this](completion& x) {
        if (return_ && return_->is_active())
          return; // of the reader that was lost
        client_->on(std::move(x));
        self_->quit();
      },
    };
  }

private:
  /// Asks a desk for the connection, which is monitored.
  template <class OnOpened, class OnError>
  void ask(const front_desk_actor& desk, caf::duration within,
           open_request question, OnOpened on_opened, OnError on_error) {
    // CAF does not answer a request to a node that is lost.
    if (desk.node() != self_->node())
      self_->monitor(desk);
    self_->request(desk, within, std::move(question))
      .then(
        [this, from = desk.address(), on_opened](const open_result& x) {
          // The desk outlives the sink and must not keep its monitor.
          self_->demonitor(from);
          self_->monitor(x.connection);
          on_opened(x);
        },
        [this, from = desk.address(), on_error](caf::error& reason) {
          self_->demonitor(from);
          on_error(reason);
        });
  }

  void on_down(const caf::down_msg& x) {
    const auto reason = lost_connection(x.reason);
    if (!return_ || !return_->is_active())
      return begin_to_return(reason);
    if (x.source == desk_)
      fail_to_return(return_->attempt(), reason);
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
    // The guide always answers.
    self_->request(return_->guide(), caf::infinite, caf::connect_atom_v, reason)
      .then(
        [this](const caf::actor& found) {
          ask_again(caf::actor_cast<front_desk_actor>(found));
        },
        [this](caf::error& failure) { lose(std::move(failure)); });
  }

  void ask_again(const front_desk_actor& desk) {
    auto question = client_->question(*return_);
    if (!question)
      return self_->quit(); // it has ended meanwhile
    question->client = self_;
    desk_ = desk.address();
    ask(
      desk, for_request(return_->within()), std::move(*question),
      [this, attempt = return_->attempt()](const open_result& x) {
        if (attempt != return_->attempt())
          return decline(x); // too late: the next attempt takes over
        const auto reopens = return_->reopens();
        return_->end();
        if (!client_->on_returned(x, reopens))
          self_->quit();
      },
      [this, attempt = return_->attempt(), desk](caf::error& reason) {
        fail_to_return(attempt, reason, desk);
      });
  }

  /// Tries again, or gives up.
  void fail_to_return(std::uint64_t attempt, const caf::error& reason,
                      const front_desk_actor& desk = {}) {
    if (attempt != return_->attempt())
      return; // an error of an attempt that is over, such as its time-out
    switch (client_->after_failure(*return_, reason)) {
      case return_path::step::asks_again: return ask_again(desk);
      case return_path::step::looks_on: return look_for_desk(reason);
      default: return lose(reason);
    }
  }

  chunk_sink::pointer self_;
  std::shared_ptr<blocking_client> client_;
  std::unique_ptr<return_path> return_; ///< null for an action of this process
  caf::actor_addr desk_;                ///< that is asked for the run
};

} // namespace

void spawn_client_sink(caf::actor_system& system,
                       std::shared_ptr<blocking_client> client,
                       const front_desk_actor& desk, open_request question,
                       std::shared_ptr<remote_desk> remote) {
  system.spawn<caf::hidden>(
    [](chunk_sink::stateful_pointer<sink_state> self,
       std::shared_ptr<blocking_client> client, const front_desk_actor& desk,
       open_request question, std::shared_ptr<remote_desk> remote) {
      return self->state.make_behavior(std::move(client), desk,
                                       std::move(question), std::move(remote));
    },
    std::move(client), desk, std::move(question), std::move(remote));
}

} // namespace tertulia::detail
