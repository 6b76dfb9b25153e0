// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/status.hpp>

#include <caf/timespan.hpp>

// What can be said when a tool is defined:
//
//   ai::define_tool(rt, "pay", "Pays a bill.", pay, ai::with_tool_timeout(5s))
//
// Design: README §5.18 "Tools".

namespace tertulia::ai {

/// What becomes of an error of a tool that a model has asked for.
enum class tool_failure {
  /// The model gets `{"error":{"code":…,"message":…}}` as the tool's response,
  /// and may do without it or try again.
  answers_model,
  /// The generation fails with it.
  fails_turn,
};

/// Everything that can be chosen, with its defaults.
struct tool_options {
  tool_failure on_failure = tool_failure::answers_model;
  /// Zero for as long as it takes.
  caf::timespan within{0};
};

/// What an error of the tool does; the model gets it, if not given. An input
/// that is not what the tool takes is the model's own mistake, and always goes
/// back to it.
struct with_tool_failure {
  explicit with_tool_failure(tool_failure what) : what(what) {}

  void apply(tool_options& to) const {
    to.on_failure = what;
  }

  tool_failure what;
};

/// Time until a call of the tool is cancelled and has failed with
/// `deadline_exceeded`. Without it a call may take as long as the conversation
/// that it belongs to.
struct with_tool_timeout {
  /// @param within positive.
  explicit with_tool_timeout(caf::timespan within) : within(within) {}

  /// @errors throws `invalid_argument` for what is not positive.
  void apply(tool_options& to) const {
    if (within.count() <= 0)
      throw status_error{errc::invalid_argument,
                         "the time of a tool must be positive"};
    to.within = within;
  }

  caf::timespan within;
};

/// An option of a tool: a value, which is applied when the tool is defined.
template <class T>
concept tool_option = requires(const T& x, tool_options& to) {
  x.apply(to);
};

} // namespace tertulia::ai
