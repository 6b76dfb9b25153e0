// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/context.hpp>
#include <tertulia/json.hpp>

namespace tertulia::ai {

/// What surrounds a tool: what surrounds every body, and a person to ask.
///
/// The session is that of the conversation in which a model has asked for the
/// tool, so `session<ai::session<Custom>>()` finds it.
///
/// @threads  as `context`.
/// @lifetime as `context`.
/// @design   README §5.18 "Tools".
class tool_context : public context {
public:
  /// Private to this library.
  explicit tool_context(const context& of) noexcept : context(of) {}

  /// Asks a person, and yields what the person has said.
  ///
  /// ```
  /// auto said = co_await ctx.interrupt("Really?");
  /// if (said != true)
  ///   throw status_error{errc::permission_denied, "the user does not want
  ///   it"};
  /// ```
  ///
  /// Nobody waits meanwhile: this throws, the turn of the conversation ends
  /// with `finish_reason::interrupted`, and once somebody has answered the tool
  /// is run again from its start. So what comes before the question happens
  /// again with each answer; ask before anything is done. Who asks twice gets
  /// the answers in the order of the questions.
  ///
  /// A client that runs the tool by its key sends the answers as inputs.
  ///
  /// @param question what the person should know; any JSON.
  /// @errors `failed_precondition` if nobody has answered yet, see
  ///         `interrupt_error`: do not catch it. `cancelled` and what else ends
  ///         the tool.
  [[nodiscard]] task<json> interrupt(json question) const;
};

} // namespace tertulia::ai
