// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/status.hpp>

#include <caf/timespan.hpp>

// Options for the definition of a tool:
//
//   ai::define_tool(rt, "pay", "Pays a bill.", pay, ai::with_tool_timeout(5s))
//
// Design: docs/tools.md#tools.

namespace tertulia::ai {

/// Effect of an error of a tool that a model has requested.
enum class tool_failure {
  /// The model gets `{"error":{"code":…,"message":…}}` as the tool's response,
  /// and may continue without the tool or try again.
  answers_model,
  /// The generation fails with the error.
  fails_turn,
};

/// All options, with their defaults.
struct tool_options {
  tool_failure on_failure = tool_failure::answers_model;
  /// Time limit of a call; zero for none.
  caf::timespan within{0};
};

/// Effect of an error of the tool; by default the model receives it. An input
/// that the tool does not accept is the model's own mistake, and the model
/// always receives that error.
struct with_tool_failure {
  explicit with_tool_failure(tool_failure effect) : effect(effect) {}

  void apply(tool_options& to) const {
    to.on_failure = effect;
  }

  tool_failure effect;
};

/// Time until a call of the tool is cancelled and fails with
/// `deadline_exceeded`. By default a call may take as long as the conversation
/// that it belongs to.
struct with_tool_timeout {
  /// @param within must be positive.
  explicit with_tool_timeout(caf::timespan within) : within(within) {}

  /// @errors throws `invalid_argument` for a time that is not positive.
  void apply(tool_options& to) const {
    if (within.count() <= 0)
      throw status_error{errc::invalid_argument,
                         "the time of a tool must be positive"};
    to.within = within;
  }

  caf::timespan within;
};

} // namespace tertulia::ai
