// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/ai/prompt_agent.hpp>
#include <tertulia/runtime.hpp>

#include <caf/timespan.hpp>

#include <string>
#include <vector>

#include "chat_models.hpp"

namespace tertulia::tool {

/// Key of the chat agent.
inline constexpr const char* chat_key = "/session-flow/chat";

using chat_flow = ai::session_flow<nothing, nothing>;

/// The chat agent: a model, a prompt and tools.
///
/// @lifetime must not outlive the runtime.
class chat_agent {
public:
  /// @param model a name for `chat_models::choose`; the first model if empty.
  /// @errors throws the errors of `chat_models::choose`.
  chat_agent(runtime& rt, const snapshot_store& store, const std::string& model,
             caf::timespan pause);

  [[nodiscard]] chat_models& models() noexcept {
    return models_;
  }

  [[nodiscard]] const std::vector<ai::tool>& tools() const noexcept {
    return tools_;
  }

  [[nodiscard]] const chat_flow& flow() const noexcept {
    return flow_;
  }

private:
  chat_models models_;
  std::vector<ai::tool> tools_;
  chat_flow flow_;
};

} // namespace tertulia::tool
