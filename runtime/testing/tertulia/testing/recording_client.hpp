// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/ai/conversation.hpp>
#include <tertulia/ai/interrupt.hpp>
#include <tertulia/bidi_action.hpp>
#include <tertulia/detail/client_recorder.hpp>

#include <caf/actor_system.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace tertulia::testing {

/// Client that does nothing by itself but to confirm the end of a kept run: it
/// records everything that it receives, and sends what the test tells it to
/// send. For a `deterministic_runtime`:
/// unless said otherwise, a member function that sends runs all actors until
/// they are idle.
///
/// The window of chunks is that of the options; credit is granted only by
/// `grant`, so a test sees what an action does without it.
///
/// @threads  only the thread of its runtime.
/// @lifetime must not outlive its runtime; the connection is cancelled with it.
/// @design   docs/testing.md#clients.
template <class In, class Out, class Stream>
class recording_client : public tertulia::detail::client_recorder {
public:
  /// Messages that the client has received.
  struct log : tertulia::detail::recorded_messages {
    std::vector<Stream> chunks;

    void add(chunk_batch& x) override {
      for (auto& chunk : std::move(x).template take<Stream>())
        chunks.push_back(std::move(chunk));
    }
  };

  template <class Init, class... Options>
  recording_client(caf::actor_system& system, const front_desk_actor& desk,
                   const bidi_action<Init, In, Out, Stream>& what,
                   const Options&... options)
    : recording_client(system, desk,
                       what.opening_for(chunk_sink{}, options...)) {
    run_all();
  }

  /// Sends an open request without running an actor.
  recording_client(caf::actor_system& system, const front_desk_actor& desk,
                   open_request request)
    : recording_client(system, desk, std::move(request),
                       std::make_shared<log>()) {}

  [[nodiscard]] const log& received() const noexcept {
    return *log_;
  }

  /// Returns the output of the action.
  /// @pre the action has returned.
  [[nodiscard]] Out output() const {
    auto value = log_->end.value().output;
    return std::move(value).template take<Out>();
  }

  /// Sends an input without running an actor.
  void post(In value, std::uint32_t credit = 0) {
    post_payload(payload::of(std::move(value)), credit);
  }

  void send(In value, std::uint32_t credit = 0) {
    post(std::move(value), credit);
    run_all();
  }

  // -- conversations ----------------------------------------------------------

  /// Sends one text message of the user to a chat agent or a session flow.
  void say(std::string text) requires std::same_as<In, ai::conversation_input> {
    say(ai::user_text(std::move(text)));
  }

  /// Sends one message, such as the answer to a question.
  void say(ai::message x) requires std::same_as<In, ai::conversation_input> {
    said_at_ = log_->chunks.size();
    send(In{std::vector<ai::message>(1, std::move(x))});
  }

  /// Returns the text of the answer since the last `say`.
  [[nodiscard]] std::string
  text() const requires std::same_as<In, ai::conversation_input> {
    std::string result;
    for (auto i = said_at_; i < log_->chunks.size(); ++i)
      if (const auto& x = log_->chunks[i].chunk)
        result += x->text();
    return result;
  }

  /// Returns the questions of tools since the last `say`.
  [[nodiscard]] std::vector<ai::part>
  questions() const requires std::same_as<In, ai::conversation_input> {
    std::vector<ai::part> result;
    for (auto i = said_at_; i < log_->chunks.size(); ++i)
      if (const auto& x = log_->chunks[i].chunk)
        for (auto& question : ai::interrupts_in(x->content))
          result.push_back(std::move(question));
    return result;
  }

private:
  recording_client(caf::actor_system& system, const front_desk_actor& desk,
                   open_request request, std::shared_ptr<log> received)
    : client_recorder(system, desk, std::move(request), received),
      log_(std::move(received)) {}

  std::shared_ptr<log> log_;
  std::size_t said_at_ = 0;
};

template <class Init, class In, class Out, class Stream, class... Options>
recording_client(caf::actor_system&, const front_desk_actor&,
                 const bidi_action<Init, In, Out, Stream>&, const Options&...)
  -> recording_client<In, Out, Stream>;

} // namespace tertulia::testing
