// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/detail/send_here.hpp>
#include <tertulia/status.hpp>

#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "channel.hpp"

namespace tertulia::web {

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
  detail::spawn_here(
    system,
    [](caf::event_based_actor* self, Handle to, Request question,
       std::shared_ptr<channel<answer>> out) {
      self->request(to, std::chrono::seconds{30}, std::move(question))
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
  co_await reader.take(answers);
  if (!answers.front().value)
    raise(answers.front().reason);
  co_return std::move(*answers.front().value);
}

} // namespace tertulia::web
