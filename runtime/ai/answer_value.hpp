// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/ai/message.hpp>
#include <tertulia/json_value.hpp>
#include <tertulia/status_error.hpp>

#include <vector>

// Value in the answer of a model that was asked for one of a schema.

namespace tertulia::ai {

/// Returns the value: the data of the answer, otherwise its text as JSON.
/// @errors throws `invalid_argument` with the path if it does not fit.
json read_answer(const message& answer, const json& schema);

/// Returns the messages that ask the model to answer again: its answer, and
/// what is wrong with it.
std::vector<message> correction(message answer, const status_error& wrong);

} // namespace tertulia::ai
