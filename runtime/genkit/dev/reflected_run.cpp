// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/status_error.hpp>

#include <utility>

#include "genkit_agent.hpp"
#include "reflection.hpp"

namespace tertulia::web {

void reflected_run::begin(std::shared_ptr<talk> client, bool is_agent,
                          bool is_stored) {
  const std::lock_guard guard{mutex_};
  client_ = std::move(client);
  is_agent_ = is_agent;
  is_stored_ = is_stored;
  for (const auto& input : std::exchange(early_, {}))
    pass_on(input);
  if (is_closed_)
    client_->close();
  if (is_cancelled_)
    client_->cancel();
}

void reflected_run::send(const json& input) {
  const std::lock_guard guard{mutex_};
  if (client_)
    pass_on(input);
  else
    early_.push_back(input);
}

void reflected_run::pass_on(const json& input) {
  if (is_detached_)
    return; // the input was closed
  if (!is_agent_)
    return client_->send(payload::of(input));
  auto call = json::object();
  call["data"] = input;
  try {
    auto turn = read_genkit_turn(call, is_stored_, {});
    for (auto& one : turn.body.inputs)
      client_->send(payload::of(std::move(one)));
    if (!turn.is_detached)
      return;
    is_detached_ = true;
    client_->close();
    client_->flush(); // its answer ends the run for the tools
  } catch (const status_error&) {
    client_->send(payload::of(input)); // is refused, and says why
  }
}

bool reflected_run::is_cancelled() const {
  const std::lock_guard guard{mutex_};
  return is_cancelled_;
}

bool reflected_run::is_detached() const {
  const std::lock_guard guard{mutex_};
  return is_detached_;
}

void reflected_run::close() {
  const std::lock_guard guard{mutex_};
  is_closed_ = true;
  if (client_)
    client_->close();
}

void reflected_run::cancel() {
  const std::lock_guard guard{mutex_};
  is_cancelled_ = true;
  if (client_)
    client_->cancel();
}

} // namespace tertulia::web
