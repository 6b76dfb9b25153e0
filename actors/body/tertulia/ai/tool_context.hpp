// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/context.hpp>
#include <tertulia/detail/access.hpp>
#include <tertulia/json.hpp>

#include <string>

namespace tertulia::ai {

/// Context of a tool: the context of a body, and a way to ask a person.
///
/// Its session is that of the conversation in which a model requested the tool,
/// so `session<ai::chat_session<Custom>>()` returns it.
///
/// @threads  as `context`.
/// @lifetime as `context`.
/// @design   docs/tools.md#tools.
class tool_context : public context {
public:
  /// Asks a person a question and yields the answer.
  ///
  /// ```
  /// auto said = co_await ctx.interrupt("Really?");
  /// if (said != true)
  ///   throw status_error{errc::permission_denied,
  ///                      "the user does not want it"};
  /// ```
  ///
  /// Nothing waits for the answer: this throws, and the turn of the
  /// conversation ends with `finish_reason::interrupted`. Once there is an
  /// answer, the tool is run again from its start. So the code before the
  /// question runs again with each answer; ask before any other effect. Several
  /// questions get their answers in the order of the questions.
  ///
  /// A client that runs the tool by its key sends the answers as inputs.
  ///
  /// @param question the question for the person; any JSON.
  /// @errors `failed_precondition` if there is no answer yet, see
  ///         `interrupt_error`: do not catch it. `cancelled` or another error
  ///         that ends the tool.
  [[nodiscard]] task<json> interrupt(json question) const;

  /// Reports progress to the client of the conversation, which gets it as a
  /// chunk (`progress_in`); waits while the client lags by a whole window. The
  /// model and the session do not get it. A client that runs the tool by its
  /// key gets it as a chunk.
  /// @param value any JSON.
  /// @errors `cancelled` or another error that ends the tool.
  [[nodiscard]] task<> report(json value) const;

  /// Returns the name of this call, 32 hexadecimal digits. It is the same each
  /// time the tool runs for it: with the answer to a question, and when a turn
  /// that was cut off is finished by another run. So a tool can record it with
  /// its effect, and leave out an effect that it finds recorded.
  ///
  /// It is derived from the session, the place of the request in its messages,
  /// the tool and the input. An answer that is made again from an older
  /// snapshot has the same names for the same calls.
  ///
  /// @returns an empty text outside a session, and for a tool that a client or
  ///          another body runs.
  [[nodiscard]] const std::string& call_id() const noexcept;

private:
  friend detail::access;

  explicit tool_context(const context& outer) noexcept : context(outer) {}
};

} // namespace tertulia::ai
