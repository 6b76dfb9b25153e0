// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/ai/model_handle.hpp>

#include <caf/timespan.hpp>

#include <string>

namespace tertulia {

class runtime;

} // namespace tertulia

namespace tertulia::ai {

/// Options of the offline model.
///
/// @threads a value.
struct offline_options {
  offline_options() = default;

  /// Pause before each word, so that a person can follow; none if zero. Must
  /// not be negative.
  caf::timespan word_pause{0};
};

/// Defines a conversation partner that needs no key, no network and no other
/// program, and registers it as `/model/<name>`.
///
/// It talks like ELIZA: it turns a statement into a question, and if it finds
/// none it refers to earlier messages. It remembers the user's name and can
/// list earlier messages. It streams word by word.
///
/// It finds tools by their names: `use the weather tool for Lisbon` requests
/// the tool `weather`, or `getWeather`, with an input that fits its schema as
/// well as can be guessed. After the tool's response the model reports it in
/// words. If the request has an output schema, the answer is JSON that fits it.
///
/// Equal conversations get equal answers, in any process. Words count as tokens
/// in its usage.
///
/// @errors `already_exists`; `invalid_argument` for a bad name or a negative
///         pause.
/// @design docs/models.md#models.
model define_offline_model(runtime& rt, std::string name = "eliza",
                           offline_options options = {});

} // namespace tertulia::ai
