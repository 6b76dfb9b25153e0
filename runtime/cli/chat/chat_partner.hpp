// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/ai/prompt_agent.hpp>
#include <tertulia/remote_runtime.hpp>
#include <tertulia/runtime.hpp>

#include <caf/timespan.hpp>

#include <optional>
#include <string>
#include <vector>

#include "chat_models.hpp"

namespace tertulia::tool {

using chat_flow = ai::session_flow<nothing, nothing>;

/// The agent that a chat talks to: that of this program, with a model, a prompt
/// and tools, or one of a running program.
///
/// @lifetime must not outlive the runtime.
class chat_partner {
public:
  /// Defines the agent of this program.
  /// @param model a name for `chat_models::choose`; the first model if empty.
  /// @errors throws the errors of `chat_models::choose`.
  chat_partner(runtime& rt, const snapshot_store& store,
               const std::string& model, caf::timespan pause);

  /// Finds an agent of a running program.
  /// @param key of the agent; empty for the only session flow there.
  /// @errors throws a failure.
  chat_partner(const remote_runtime& there, const std::string& key);

  /// Returns the models of this program; null for a running program.
  [[nodiscard]] chat_models* models() noexcept {
    return models_ ? &*models_ : nullptr;
  }

  /// Returns the tools of this program; none of a running program.
  [[nodiscard]] const std::vector<ai::tool>& tools() const noexcept {
    return tools_;
  }

  [[nodiscard]] const std::string& key() const noexcept {
    return key_;
  }

  /// Returns who answers, for people.
  [[nodiscard]] const std::string& name() const noexcept {
    return models_ ? models_->name() : key_;
  }

  [[nodiscard]] const chat_flow& flow() const noexcept {
    return flow_;
  }

private:
  std::string key_;
  std::optional<chat_models> models_;
  std::vector<ai::tool> tools_;
  chat_flow flow_;
};

} // namespace tertulia::tool
