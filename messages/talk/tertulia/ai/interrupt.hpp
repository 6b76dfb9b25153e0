// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/ai/message.hpp>
#include <tertulia/status_error.hpp>

#include <optional>
#include <span>
#include <string>
#include <vector>

// A tool may ask a person before it continues. The turn then ends, and the
// conversation contains all that is needed to continue: the model's request,
// with the question as metadata. An input of a later turn, maybe in another
// process, answers in place of the tool, or runs it again with the person's
// answer.
//
//   for (const auto& question : ai::interrupts_in(message.content))
//     talk.send_messages({ai::approval(question)});
//
// Design: docs/tools.md#tools.

namespace tertulia::ai {

/// Metadata key of a tool request that waits for a person: the question of the
/// tool, any JSON.
inline constexpr auto interrupt_key = "interrupt";

/// Metadata key of a tool request that is sent again: the person's answer to
/// the tool.
inline constexpr auto resumed_key = "resumed";

/// Returns the requests that wait for a person. The questions are in their
/// metadata under `interrupt_key`.
/// @threads from any thread.
[[nodiscard]] std::vector<part> interrupts_in(std::span<const part> parts);

/// Returns the question of a tool for a person to read: a text as it is, other
/// JSON as its text.
/// @param interrupt a result of `interrupts_in`.
/// @errors `invalid_argument` for a part without a question.
/// @threads from any thread.
[[nodiscard]] std::string question_text(const part& interrupt);

/// Returns the message that answers in place of a tool that asked: the model
/// receives `output` as the output of the tool.
/// @param interrupt a result of `interrupts_in`.
/// @errors `invalid_argument` for a part that is not a tool request.
/// @threads from any thread.
[[nodiscard]] message answer_to(const part& interrupt, json output);

/// Returns the message that runs a tool again after it asked; its
/// `tool_context::interrupt` then yields `reply`.
/// @param interrupt a result of `interrupts_in`.
/// @errors `invalid_argument` for a part that is not a tool request.
/// @threads from any thread.
[[nodiscard]] message reply_to(const part& interrupt, json reply);

/// Returns `reply_to` with true.
[[nodiscard]] message approval(const part& interrupt);

/// Returns `reply_to` with false.
[[nodiscard]] message refusal(const part& interrupt);

// -- as an error --------------------------------------------------------------

/// Returns the error with which a tool ends in order to wait for a person:
/// `failed_precondition`, with `{"interrupt":…}` as details.
/// @threads from any thread.
[[nodiscard]] status_error interrupt_error(const json& question);

/// Returns the question in such an error; empty for any other error.
/// @threads from any thread.
[[nodiscard]] std::optional<json> question_of(const status_error& x);

} // namespace tertulia::ai
