// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/detail/send_here.hpp>
#include <tertulia/detail/without_clock.hpp>
#include <tertulia/status_error.hpp>

#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/send.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "message/channel.hpp"

namespace tertulia::web {

/// Time within which an actor answers.
inline constexpr auto answer_within = std::chrono::seconds{30};

/// Sends a request to an actor and waits for the answer, in a coroutine of the
/// server.
/// @errors throws the error of the actor; `deadline_exceeded`.
template <class Reply, class Handle, class Request>
net::awaitable<Reply> ask(caf::actor_system& system, Handle to,
                          Request question, net::any_io_executor executor) {
  struct answer {
    std::optional<Reply> value;
    caf::error reason;
  };
  channel_reader<answer> reader{executor};
  const auto asking = detail::spawn_here(
    system,
    [](detail::without_clock<caf::event_based_actor>* self, Handle to,
       Request question, std::shared_ptr<channel<answer>> out) {
      // The coroutine below has the time-out: one of CAF's keeps an actor for
      // the whole time, also when it has its answer.
      self->request(to, caf::infinite, std::move(question))
        .then(
          [out](Reply& x) {
            out->push({std::move(x), {}});
          },
          [out](caf::error& x) {
            out->push({std::nullopt, std::move(x)});
          });
    },
    std::move(to), std::move(question), reader.source());
  std::vector<answer> answers;
  const auto outcome
    = co_await reader.take(answers, clock::now() + answer_within);
  if (outcome != channel_reader<answer>::outcome::items) {
    caf::anon_send_exit(asking, caf::exit_reason::user_shutdown);
    throw status_error{errc::deadline_exceeded, "an actor does not answer"};
  }
  if (!answers.front().value)
    raise(answers.front().reason);
  co_return std::move(*answers.front().value);
}

} // namespace tertulia::web
