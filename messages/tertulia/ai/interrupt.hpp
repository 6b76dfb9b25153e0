// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/ai/message.hpp>
#include <tertulia/status.hpp>

#include <optional>
#include <span>
#include <vector>

// A tool may ask a person before it goes on. The turn ends then, and all that
// is known of it stands in the conversation: the model's request, with the
// question as metadata. An input of a later turn, maybe in another process,
// answers in place of the tool or has it run again with what the person said.
//
//   for (const auto& question : ai::interrupts_in(message.content))
//     talk.send_messages({ai::approval(question, true)});
//
// Design: README §5.18 "Tools".

namespace tertulia::ai {

/// The question of a tool that waits for a person, any JSON: in the metadata of
/// its request.
inline constexpr auto interrupt_key = "interrupt";

/// What a person says to a tool that asked: in the metadata of the request,
/// sent again.
inline constexpr auto resumed_key = "resumed";

/// Returns the requests that wait for a person. Their metadata have the
/// question under `interrupt_key`.
/// @threads from any thread.
[[nodiscard]] std::vector<part> interrupts_in(std::span<const part> parts);

/// Returns the message that answers in place of a tool that asked: the model
/// gets `output` as what the tool gave back.
/// @param interrupt one of `interrupts_in`.
/// @errors `invalid_argument` for a part that is no tool request.
/// @threads from any thread.
[[nodiscard]] message answer_to(const part& interrupt, json output);

/// Returns the message that has a tool that asked run again; its
/// `tool_context::interrupt` then yields `said`.
/// @param interrupt one of `interrupts_in`.
/// @errors `invalid_argument` for a part that is no tool request.
/// @threads from any thread.
[[nodiscard]] message approval(const part& interrupt, json said);

// -- as an error --------------------------------------------------------------

/// Makes the error with which a tool ends that waits for a person:
/// `failed_precondition`, with `{"interrupt":…}` as details.
/// @threads from any thread.
[[nodiscard]] status_error interrupt_error(const json& question);

/// Returns the question of such an error; empty if it is another one.
/// @threads from any thread.
[[nodiscard]] std::optional<json> question_of(const status_error& x);

} // namespace tertulia::ai
